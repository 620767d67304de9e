package docs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBlocks(t *testing.T) {
	for name, tc := range map[string]struct {
		page string
		want []block
		err  string
	}{
		"a block that is run":          {page: "text\n```sh\na\nb\n```\n", want: []block{{2, "a\nb\n", ""}}},
		"one that is not, with why":    {page: "<!-- not run: no nodes -->\n```sh\na\n```\n", want: []block{{2, "a\n", "no nodes"}}},
		"why holds for one block":      {page: "<!-- not run: x -->\n```sh\na\n```\n```sh\nb\n```", want: []block{{2, "a\n", "x"}, {5, "b\n", ""}}},
		"in a list":                    {page: "- x\n  ```sh\n  a\n  ```\n", want: []block{{2, "  a\n", ""}}},
		"another language":             {page: "```yaml\n```\n```\n$ a\n```\n"},
		"sh inside another language":   {page: "```text\nx ```sh\n```\n"},
		"a comment without why":        {page: "<!-- not run: -->\n```sh\na\n```", err: "line 1: say why in one line: <!-- not run: why -->"},
		"a comment above nothing":      {page: "x\n<!-- not run: y -->\ntext\n```sh\na\n```", err: "line 2: no block of commands stands right below this"},
		"a comment above other things": {page: "<!-- not run: y -->\n```yaml\n```", err: "line 1: no block of commands stands right below this"},
		"a block without end":          {page: "\n```sh\na\n", err: "line 2: this block does not end"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := blocks(tc.page)
			if tc.err != "" {
				require.EqualError(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}
