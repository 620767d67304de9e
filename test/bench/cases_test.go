package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChosen(t *testing.T) {
	all, err := chosen("")
	require.NoError(t, err)
	assert.Len(t, all, len(cases()))

	some, err := chosen("^hot")
	require.NoError(t, err)
	require.Len(t, some, 1)
	assert.Equal(t, "hot-parent", some[0].name)

	_, err = chosen("nothing")
	assert.EqualError(t, err, "-run nothing matches no case")
	_, err = chosen("(")
	assert.ErrorContains(t, err, "-run: error parsing regexp")

	seen := map[string]bool{}
	for _, c := range all {
		assert.False(t, seen[c.name], "%s names two cases", c.name)
		seen[c.name] = true
	}
}
