package cli

import "strings"

// Wrap breaks a text at 78 columns and indents all lines but the first.
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

// Cell makes a text safe inside a Markdown table.
func Cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
