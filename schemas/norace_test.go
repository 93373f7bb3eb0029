//go:build !race

package schemas_test

// raceEnabled reports whether the race detector is on.
const raceEnabled = false
