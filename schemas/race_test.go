//go:build race

package schemas_test

// raceEnabled says that the race detector is on: with it slices.Grow allocates
// twice.
const raceEnabled = true
