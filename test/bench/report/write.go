package report

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write writes benchmarks.md and its plot into a folder.
func (r Report) Write(dir string) error {
	svg, err := r.SVG()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{markdownName: []byte(r.Markdown()), plotName: svg} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	return nil
}
