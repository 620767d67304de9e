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
	b := buildOf(version, commit, read)
	words := []string{b.version}
	if b.commit != "" {
		words = append(words, "(commit "+b.commit+")")
	}
	if b.goVersion != "" {
		words = append(words, b.goVersion)
	}
	return strings.Join(words, " ")
}

// build is what is known of this build; all but the version may be empty.
type build struct{ version, commit, goVersion string }

func buildOf(version, commit string, read func() (*debug.BuildInfo, bool)) build {
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
	if commit != "" {
		commit += dirty
	}
	return build{version, commit, info.GoVersion}
}
