// Package docs runs the commands that the documentation shows, on a real control
// plane, as the operator who reads them would: what a page says to type must
// work, in the order in which it stands there.
//
// It runs every block of the language "sh" in docs/*.md by a shell, in one
// folder, and fails at the first command that fails. A block that cannot be run
// here stands below a comment that says why, <!-- not run: ... -->. Blocks of
// other languages are shown, not typed.
package docs
