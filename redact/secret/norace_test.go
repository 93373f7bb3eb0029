//go:build !race

package secret

// raceEnabled says that the race detector is on.
const raceEnabled = false
