//go:build !race

package redact

// raceEnabled says that the race detector is on.
const raceEnabled = false
