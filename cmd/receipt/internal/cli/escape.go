package cli

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon/foreign"
)

// EscapeLine makes foreign text safe to print on one line.
func EscapeLine(s string) string { return foreign.Escape(s) }

// EscapeText is escapeLine for a text of our own that has several lines.
func EscapeText(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = EscapeLine(l)
	}
	return strings.Join(lines, "\n")
}

// ShellFile makes the name of an input safe to paste into a shell.
func ShellFile(source string) string {
	switch {
	case source == SourceName(StdinName):
		return StdinName
	case strings.HasPrefix(source, "-"):
		source = "./" + source
	}
	return ShellName(source)
}

// ShellName makes foreign text safe to paste into a shell: what must not be shown as it is
// stands in the form of bash, zsh and POSIX 2024 that reads escapes. A quotation mark in it
// is an escape, too: a shell that does not know the form would end the text there.
func ShellName(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:@%+=-", r)
	})
	if plain && s != "" {
		return s
	}
	if EscapeLine(s) != s {
		return "$'" + EscapeLine(strings.NewReplacer(`\`, `\\`, "'", `\x27`).Replace(s)) + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Bare is a foreign name inside a sentence: quoted when it could be mistaken for
// a part of it.
func Bare(s string) string {
	if ShellName(s) == s {
		return s
	}
	return `"` + EscapeLine(s) + `"`
}
