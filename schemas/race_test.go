//go:build race

package schemas_test

// raceEnabled reports whether the race detector is on. With the race detector, slices.Grow
// allocates twice.
const raceEnabled = true
