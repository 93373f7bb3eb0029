//go:build race

package match_test

// raceEnabled reports whether the race detector is on, which makes regular expressions ten times
// slower and causes sync.Pool to drop values.
const raceEnabled = true
