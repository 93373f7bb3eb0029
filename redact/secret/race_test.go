//go:build race

package secret

// raceEnabled says that the race detector is on: it makes regular expressions
// ten times as slow, and sync.Pool forget.
const raceEnabled = true
