//go:build race

package match_test

// raceEnabled says that the race detector is on: it makes regular expressions
// ten times as slow, and sync.Pool forget.
const raceEnabled = true
