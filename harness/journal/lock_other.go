//go:build !unix

package journal

import "os"

// lock does nothing, because file locks are not implemented for this system. Two programs can
// therefore open the same file.
func lock(*os.File) error { return nil }

// syncFolder does nothing, because the name of a new file is durable on this system.
func syncFolder(string) error { return nil }
