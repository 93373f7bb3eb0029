//go:build !linux

package file

import "time"

// On this system, a ticket is not a place in a queue, because there are no locks that belong to an
// open file and end with the process. SQLite's own locks determine the order instead.
type ticket struct{}

func drawTicket(string, int) *ticket { return nil }

func (*ticket) wait(time.Duration) bool { return true }

func (*ticket) end() {}
