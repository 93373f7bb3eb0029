//go:build race

package redact

// raceEnabled says that the race detector is on: it makes regular expressions
// ten times as slow, and sync.Pool forget.
const raceEnabled = true
