//go:build !unix

package journal

import "os"

// lock does nothing: on this system, two programs can open the same file.
func lock(*os.File) error { return nil }

// syncFolder does nothing: the name of a new file is durable without it.
func syncFolder(string) error { return nil }
