package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExpected(t *testing.T) {
	for name, tc := range map[string]struct {
		turns       []int
		wantReason  string
		wantMessage string
	}{
		"a missing image outranks crashes": {
			turns: []int{2, 2, 2}, wantReason: "ImageUnavailable",
			wantMessage: `1 of 3 instances could not pull its image: image "registry.example/app:2" was not found.`,
		},
		"several are counted and the first speaks": {
			turns: []int{3, 4, 5}, wantReason: "ImageUnavailable",
			wantMessage: `3 of 3 instances could not pull their image: image "registry.example/app:3" was not found.`,
		},
		"all crash": {
			turns: []int{6, 7, 8}, wantReason: "InstanceCrashing",
			wantMessage: `3 of 3 instances are repeatedly exiting and restarting: container "app" keeps exiting (last exit code 6).`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			reason, message := (&fleet{perDeployment: 3, perWorkload: 1, turns: tc.turns}).expected(0)
			assert.Equal(t, tc.wantReason, reason)
			assert.Equal(t, tc.wantMessage, message)
		})
	}
}

func TestEveryWriteSaysSomethingElse(t *testing.T) {
	for turn := range 10 {
		before, earlier := failure(3, turn)
		now, later := failure(3, turn+1)
		assert.NotEqual(t, before.reason, now.reason)
		assert.NotEqual(t, earlier, later)
	}
	neighbour, _ := failure(1, 5)
	own, _ := failure(2, 5)
	assert.NotEqual(t, neighbour.reason, own.reason, "both kinds of failure are there at any time")

	var seen []string
	for turn := range 3 {
		s, _ := anyState(0, turn)
		seen = append(seen, s.reason)
	}
	assert.Equal(t, []string{"InstanceCrashing", "ImageUnavailable", "Available"}, seen)
}
