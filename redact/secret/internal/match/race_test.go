//go:build race

package match_test

// raceEnabled reports whether the race detector is on. It makes regular expressions ten times
// slower, and sync.Pool drop values.
const raceEnabled = true
