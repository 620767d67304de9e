package webhook

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		// The workers of a fuzzing run never end by themselves, so looking for
		// what they leave behind would hang it.
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}
