package main

import "strings"

// wrap breaks a text at 78 columns and indents all lines but the first.
func wrap(text string, indent int) string {
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

// cell makes a text safe inside a Markdown table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
