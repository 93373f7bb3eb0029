package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestHelp verifies that help lists each placeholder once, next to its flag.
func TestHelp(t *testing.T) {
	for command, want := range map[string]string{
		"append":  "--jobs N ",
		"monitor": "--every DURATION ",
		"serve":   "--listen HOST:PORT ",
		"witness": "--key FILE ",
	} {
		var out bytes.Buffer
		if exit := run(t.Context(), []string{command, "--help"}, &out, &out); exit != exitVerified {
			t.Fatalf("%s --help: exit %d", command, exit)
		}
		text, placeholder := out.String(), strings.Fields(want)[1]
		if !strings.Contains(text, want) || strings.Contains(text, "("+placeholder+")") {
			t.Errorf("%s --help, expected %q and no (%s):\n%s", command, want, placeholder, text)
		}
	}
}
