package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// EscapeLine escapes untrusted text for printing on one line.
func EscapeLine(s string) string { return untrusted.Escape(s) }

// EscapeText is like EscapeLine, but for text that may have several lines.
func EscapeText(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = EscapeLine(l)
	}
	return strings.Join(lines, "\n")
}

// ShellFile quotes the name of an input so that it can be pasted into a shell.
func ShellFile(source string) string {
	switch {
	case source == SourceName(StdinName):
		return StdinName
	case strings.HasPrefix(source, "-"):
		source = "./" + source
	}
	return ShellName(source)
}

// ShellName quotes untrusted text so that it can be pasted into a shell. Characters that must not
// be printed are escaped in the $'…' form of bash, zsh, and POSIX 2024. Quotation marks are also
// escaped, because a shell that does not support this form would end the string there.
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

// Bare formats an untrusted name for use inside a sentence. It quotes the name if it could be
// mistaken for part of the sentence.
func Bare(s string) string {
	if ShellName(s) == s {
		return s
	}
	return `"` + EscapeLine(s) + `"`
}

// BareNames joins untrusted names for a sentence.
func BareNames(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, Bare(name))
	}
	return strings.Join(list, ", ")
}

// Wrap breaks a string at 78 columns and indents all lines except the first.
func Wrap(text string, indent int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		if i > 0 && column+1+len(word) > 78 {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		} else if i > 0 {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// Cell escapes text for a Markdown table.
func Cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// Plural formats a number with its noun and an optional verb. The noun is in the plural unless the
// number is 1.
func Plural(n int, noun, verb string) string { return headline.Plural(n, noun, verb) }

// DurationText formats a duration in at most two units, such as 1 min 19 s.
func DurationText(d time.Duration) string {
	return headline.Elapsed(time.Time{}, time.Time{}.Add(d))
}

// ClockText formats a time in a receipt in UTC, with or without its date.
func ClockText(n canon.Node, withDate bool) string {
	t, err := receipt.ParseTime(n.Text())
	switch {
	case err != nil:
		return "(no time)"
	case withDate:
		return t.UTC().Format("2006-01-02 15:04:05")
	}
	return t.UTC().Format("15:04:05")
}

// Number formats a JSON number for display. Other values are formatted by Show.
func Number(n canon.Node) string {
	if n.Kind() != canon.KindNumber {
		return Show(n)
	}
	return Group3(string(n.AppendCanonical(nil)))
}

// Group3 inserts thousands separators into a plain decimal.
func Group3(s string) string { return headline.Group3(s) }

// Show formats a value on one line, in canonical form, escaped, and shortened.
func Show(n canon.Node) string {
	text := []rune(string(n.AppendCanonical(nil)))
	if len(text) > 80 {
		text = append(text[:80], '…')
	}
	return EscapeLine(string(text))
}

// SizeText formats a number of bytes in decimal units.
func SizeText(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}} {
		if n >= u.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Count formats a number with thousands separators.
func Count(n int) string { return Group3(strconv.Itoa(n)) }

const LabelWidth = 13

// Rows formats lines under one label, up to the maximum number in most. If there are more lines, it
// adds a line with the number of further lines, which is total minus most.
func Rows(label string, lines []string, most, total int) string {
	var b strings.Builder
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(&b, "%-*sand %s more\n", LabelWidth, "", Count(total-i))
			break
		}
		fmt.Fprintf(&b, "%-*s%s\n", LabelWidth, label, EscapeLine(line))
		label = ""
	}
	return b.String()
}

// MaxStreams is the maximum number of streams that are listed with their heads.
const MaxStreams = 5

// MostUnreported is the maximum number of pointers that are listed.
const MostUnreported = 20

// RolesText lists the roles of a key.
func RolesText(k *keys.PublicKey) string {
	if len(k.Roles) == 0 {
		return string(receipt.RoleIssuer)
	}
	names := make([]string, len(k.Roles))
	for i, r := range k.Roles {
		names[i] = string(r)
	}
	return strings.Join(names, ", ")
}

// KeyStatus returns the status of a signature that the key would make now: valid, revoked, expired,
// or not_yet_valid.
func KeyStatus(k *keys.PublicKey, now time.Time) string {
	r := k.Revoked
	switch {
	case r != nil && (r.Reason != receipt.ReasonSuperseded || !now.Before(r.At)):
		return "revoked"
	case !k.NotAfter.IsZero() && !now.Before(k.NotAfter):
		return "expired"
	case now.Before(k.NotBefore):
		return "not_yet_valid"
	}
	return "valid"
}

// OrList formats a list as "a", "a or b", or "a, b, or c".
func OrList(list []string) string {
	last := len(list) - 1
	switch {
	case last < 1:
		return strings.Join(list, "")
	case last == 1:
		return list[0] + " or " + list[1]
	}
	return strings.Join(list[:last], ", ") + ", or " + list[last]
}
