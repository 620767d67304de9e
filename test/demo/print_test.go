package main

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func answers(output string, err error) func(context.Context, *world) (string, error) {
	return func(context.Context, *world) (string, error) { return output, err }
}

var timeInBrackets = regexp.MustCompile(`\[[0-9.]+ m?s]`)

// withoutTimes replaces what no test can know.
func withoutTimes(text string) string { return timeInBrackets.ReplaceAllString(text, "[t]") }

func TestPrinterPutsTheTimeBehindTheLineAndTheOutputBelow(t *testing.T) {
	var out strings.Builder
	p := &printer{out: &out}
	p.title(step{name: "(a)", title: "something is refused"})
	p.begin("$ kubectl apply -f x.yaml")
	require.True(t, strings.HasSuffix(out.String(), "$ kubectl apply -f x.yaml"), "seen while it lasts")
	p.end(12345*time.Microsecond, "no\nno\n")
	p.begin("# " + strings.Repeat("é", 80))
	p.end(3*time.Second, "")
	require.NoError(t, p.err)
	assert.Equal(t, `
(a) something is refused

$ kubectl apply -f x.yaml                                               [12 ms]
no
no
# `+strings.Repeat("é", 80)+`  [3.0 s]
`, out.String())
}

func TestDuration(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 ms": 999 * time.Microsecond, "999 ms": 999 * time.Millisecond, "1.0 s": time.Second, "75.3 s": 75321 * time.Millisecond,
	} {
		assert.Equal(t, want, duration(d))
	}
}

func TestLastLines(t *testing.T) {
	assert.Equal(t, "b\nc", lastLines("a\nb\nc\n", 2))
	assert.Equal(t, "a", lastLines("a\n", 2))
	assert.Empty(t, lastLines("", 2))
}

func TestPlayPrintsEachActAndStopsAtTheFirstThatShowsSomethingElse(t *testing.T) {
	var out strings.Builder
	steps := []step{
		{name: "(a)", title: "first", acts: []act{
			{line: "$ one", do: answers("1\n", nil), want: "1"},
			{line: "# two", do: answers("", nil)},
		}},
		{name: "(b)", title: "second", acts: []act{
			{line: "$ three", do: answers("4\n", nil), want: "3\n3"},
			{line: "$ never", do: func(context.Context, *world) (string, error) { panic("played") }},
		}},
	}
	err := play(t.Context(), nil, steps, &printer{out: &out})
	require.EqualError(t, err, `step (b) (second) failed
at: $ three
expected:
  3
  3
seen:
  4`)
	assert.Equal(t, `
(a) first

$ one                                                                   [t]
1
# two                                                                   [t]

(b) second

$ three                                                                 [t]
4
`, withoutTimes(out.String()))
}

func TestPlayNamesTheStepOfAnError(t *testing.T) {
	broken := errors.New("no server")
	steps := []step{{name: "Install:", title: "all of it", acts: []act{{line: "# x", do: answers("", broken)}}}}
	err := play(t.Context(), nil, steps, &printer{out: &strings.Builder{}})
	require.EqualError(t, err, "step Install (all of it) failed\nat: # x\nerror: no server")
	require.ErrorIs(t, err, broken)
}

func TestPlayEndsAsInterruptedAndNotAsFailed(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("interrupt")
	steps := []step{{name: "(a)", title: "x", acts: []act{{line: "# x", do: func(ctx context.Context, _ *world) (string, error) {
		cancel(cause)
		return "", ctx.Err()
	}}}}}
	require.Equal(t, cause, play(ctx, nil, steps, &printer{out: &strings.Builder{}}))
}

// brokenPipe is a reader that has gone away.
type brokenPipe struct{ error }

func (p brokenPipe) Write([]byte) (int, error) { return 0, p.error }

func TestPlayEndsWhenNobodyReads(t *testing.T) {
	gone := errors.New("broken pipe")
	steps := []step{{name: "(a)", acts: []act{{line: "# x", do: answers("", nil)}, {line: "# y", do: func(context.Context, *world) (string, error) { panic("played") }}}}}
	require.ErrorIs(t, play(t.Context(), nil, steps, &printer{out: brokenPipe{gone}}), gone)
}
