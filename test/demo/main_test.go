package main

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseKeep(t *testing.T) {
	for value, want := range map[string]bool{"": false, "0": false, "1": true, "true": true} {
		got, err := parseKeep(value)
		require.NoError(t, err)
		assert.Equal(t, want, got, "KEEP=%q", value)
	}
	_, err := parseKeep("yes please")
	assert.EqualError(t, err, `KEEP="yes please": use 1 or 0`)
}

// The manifests that the story applies are there, and none is left over.
func TestTheStoryAppliesEachManifest(t *testing.T) {
	files, err := fs.Glob(manifests(), "*")
	require.NoError(t, err)
	applied := map[string]bool{classFile: true}
	for _, s := range story {
		require.NotEmpty(t, s.title)
		for _, a := range s.acts {
			if file, ok := strings.CutPrefix(a.line, "$ kubectl apply -f "); ok {
				applied[file] = true
			}
		}
	}
	for _, file := range files {
		assert.Contains(t, applied, file)
	}
	assert.Len(t, applied, len(files))
}
