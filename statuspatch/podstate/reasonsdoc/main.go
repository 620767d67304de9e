package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: reasonsdoc FILE, from the folder of package podstate")
		os.Exit(2)
	}
	text, err := render("testdata/cases")
	if err == nil {
		err = os.WriteFile(os.Args[1], text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reasonsdoc:", err)
		os.Exit(1)
	}
}
