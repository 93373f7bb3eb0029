//go:build !race

package match_test

// raceEnabled says that the race detector is on.
const raceEnabled = false
