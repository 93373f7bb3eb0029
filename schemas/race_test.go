//go:build race

package schemas_test

// raceEnabled reports whether the race detector is on. With it, slices.Grow allocates
// twice.
const raceEnabled = true
