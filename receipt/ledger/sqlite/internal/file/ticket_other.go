//go:build !linux

package file

import "time"

// This system has no locks that belong to an open file and are released when the process exits, so
// tickets do not form a queue. SQLite's own locks determine the order instead.
type ticket struct{}

func drawTicket(string, int) *ticket { return nil }

func (*ticket) wait(time.Duration) bool { return true }

func (*ticket) end() {}
