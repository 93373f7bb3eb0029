package main

import (
	"strings"

	"github.com/receiptkit/receiptkit/receipt"
)

// escapeLine makes foreign text safe to print on one line.
func escapeLine(s string) string { return receipt.EscapeLine(s) }

// escapeText is escapeLine for a text of our own that has several lines.
func escapeText(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = escapeLine(l)
	}
	return strings.Join(lines, "\n")
}

// shellFile makes the name of an input safe to paste into a shell.
func shellFile(source string) string {
	switch {
	case source == sourceName(stdinName):
		return stdinName
	case strings.HasPrefix(source, "-"):
		source = "./" + source
	}
	return shellName(source)
}

// shellName makes foreign text safe to paste into a shell.
func shellName(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@%+=-", r)
	})
	if plain && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(escapeLine(s), "'", `'\''`) + "'"
}

// bare is a foreign name inside a sentence: quoted when it could be mistaken for
// a part of it.
func bare(s string) string {
	if shellName(s) == s {
		return s
	}
	return `"` + escapeLine(s) + `"`
}
