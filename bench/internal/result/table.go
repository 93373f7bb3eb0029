package result

import (
	"strings"
	"unicode/utf8"
)

// Table formats rows of cells as aligned text. The first row is the heading. Columns are
// right-aligned, except the first and the last.
func Table(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			room := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0:
				line.WriteString(cell + room)
			case i == len(row)-1:
				line.WriteString("  " + cell)
			default:
				line.WriteString("  " + room + cell)
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// Markdown formats rows of cells as a Markdown table. The first row is the heading. Columns after
// the first are right-aligned.
func Markdown(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|---|" + strings.Repeat("---:|", len(row)-1) + "\n")
		}
	}
	return b.String()
}

// Rows returns the lines as rows of a table.
func Rows(lines []Line) [][]string {
	rows := [][]string{{"measure", "must", "seen", "worst", "met", ""}}
	for _, l := range lines {
		rows = append(rows, []string{l.Measure, l.must(), l.seen(), l.worst(), l.met(), l.Note})
	}
	return rows
}
