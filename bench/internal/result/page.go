package result

import (
	"bytes"
	"fmt"
	"text/template"
)

// GrowthRows returns the rows of a table that lists costs by size.
func GrowthRows(list []Growth) [][]string {
	rows := [][]string{{"cost of", "size", "µs", "× the smallest", "most", ""}}
	for _, g := range list {
		rows = append(rows, []string{g.Of, g.Size, Number(g.Cost), fmt.Sprintf("%.2f", g.Ratio), fmt.Sprintf("%.2f", g.Worst), ""})
	}
	return rows
}

func (p *Profile) stepRows() [][]string {
	rows := [][]string{{"step", "%", ""}}
	for _, s := range p.Steps {
		rows = append(rows, []string{s.Name, fmt.Sprintf("%.1f", s.Value), ""})
	}
	return rows
}

func (p *Profile) floorRows() [][]string {
	rows := [][]string{{"part", "µs a receipt", ""}}
	for _, s := range p.Floor {
		rows = append(rows, []string{s.Name, fmt.Sprintf("%.1f", s.Value), ""})
	}
	return append(rows, []string{"floor: all of these", fmt.Sprintf("%.1f", p.FloorSum()), ""},
		[]string{"read and verify", fmt.Sprintf("%.1f", p.Whole), Number(p.Whole/p.FloorSum()) + " × the floor"})
}

// Text formats the profile as text.
func (p *Profile) Text() string { return Table(p.stepRows()) + "\n" + Table(p.floorRows()) }

// Fill executes a template. In the template, .Lines, .Canonical, .Linear, .Steps, and .Floor are
// Markdown tables, and .Machine, .Rounds, .Receipts, and .Missed are values.
func (r *Recorded) Fill(t *template.Template) ([]byte, error) {
	var b bytes.Buffer
	err := t.Execute(&b, map[string]any{
		"Machine":   r.Machine.String(),
		"Rounds":    r.Rounds,
		"Receipts":  r.Receipts,
		"Missed":    Missed(r.Lines),
		"Lines":     Markdown(Rows(r.Lines)),
		"Canonical": Markdown(withoutLast(r.Canonical)),
		"Linear":    Markdown(withoutLast(GrowthRows(r.Linear))),
		"Steps":     Markdown(withoutLast(r.Profile.stepRows())),
		"Floor":     Markdown(r.Profile.floorRows()),
	})
	return b.Bytes(), err
}

// withoutLast removes the last column, which must be empty.
func withoutLast(rows [][]string) [][]string {
	list := make([][]string, len(rows))
	for i, row := range rows {
		list[i] = row[:len(row)-1]
	}
	return list
}
