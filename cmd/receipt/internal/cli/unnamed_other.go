//go:build !linux

package cli

import (
	"errors"
	"os"
)

// openUnnamed is described for Linux.
func openUnnamed(string) *os.File { return nil }

func nameFile(*os.File, string) error { return errors.ErrUnsupported }
