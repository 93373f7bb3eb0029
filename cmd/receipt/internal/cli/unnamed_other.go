//go:build !linux

package cli

import (
	"errors"
	"os"
)

// openUnnamed returns nil, because only Linux supports files without a name.
func openUnnamed(string) *os.File { return nil }

func nameFile(*os.File, string) error { return errors.ErrUnsupported }
