//go:build !race

package schemas_test

// raceEnabled says that the race detector is on.
const raceEnabled = false
