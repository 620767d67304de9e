package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersionLine(t *testing.T) {
	for name, tc := range map[string]struct {
		version, commit string
		info            *debug.BuildInfo
		want            string
	}{
		"a release build says what it was told": {version: "v1.2.3", commit: "abc", want: "v1.2.3 (commit abc) go1.26",
			info: &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v0.0.0-2026"}}},
		"go install knows the module's version": {want: "v1.2.3 go1.26",
			info: &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "v1.2.3"}}},
		"a checkout knows its commit": {want: "development build (commit abc, modified) go1.26",
			info: &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
				{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}}},
		"nothing is known": {want: "development build"},
	} {
		t.Run(name, func(t *testing.T) {
			got := describe(tc.version, tc.commit, func() (*debug.BuildInfo, bool) { return tc.info, tc.info != nil })
			assert.Equal(t, tc.want, got)
		})
	}
}
