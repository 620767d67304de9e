package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	cliflag "k8s.io/component-base/cli/flag"
)

// The README's table has a row for each flag, with the default of each sub-command, and no other rows.
func TestTheREADMEKnowsEveryFlag(t *testing.T) {
	t.Setenv("POD_IP", "$POD_IP")
	data, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	documented := map[string][2]string{}
	for _, line := range strings.Split(string(data), "\n") {
		if !strings.HasPrefix(line, "| `--") {
			continue
		}
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			continue // another table
		}
		name, _, _ := strings.Cut(strings.Trim(cells[1], " `"), "`")
		documented[strings.TrimPrefix(name, "--")] = [2]string{strings.Trim(cells[2], " `"), strings.Trim(cells[3], " `")}
	}
	want := map[string][2]string{"version": {}}
	for i, o := range []options{defaultWebhookOptions(), defaultStatuspatchOptions()} {
		var sets cliflag.NamedFlagSets
		o.addFlags(&sets)
		for _, set := range sets.FlagSets {
			set.VisitAll(func(f *pflag.Flag) {
				if f.Hidden {
					return
				}
				defaults := want[f.Name]
				defaults[i] = f.DefValue
				want[f.Name] = defaults
			})
		}
	}
	assert.Equal(t, want, documented)
}
