//go:build !race

package match_test

// raceEnabled reports whether the race detector is on.
const raceEnabled = false
