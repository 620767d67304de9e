package main

import (
	"runtime/debug"
	"strings"
)

// version and commit are set by the release build: -ldflags "-X main.version=v1.2.3 -X main.commit=abc". A build without
// them, such as `go install`, still knows itself from what the Go command recorded.
var version, commit string

// versionLine is what --version prints and the first log line shows.
func versionLine() string { return describe(version, commit, debug.ReadBuildInfo) }

func describe(version, commit string, read func() (*debug.BuildInfo, bool)) string {
	info, ok := read()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if version == "" {
		version = info.Main.Version
	}
	if version == "" || version == "(devel)" {
		version = "development build"
	}
	dirty := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && commit == "":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ", modified"
		}
	}
	words := []string{version}
	if commit != "" {
		words = append(words, "(commit "+commit+dirty+")")
	}
	if info.GoVersion != "" {
		words = append(words, info.GoVersion)
	}
	return strings.Join(words, " ")
}
