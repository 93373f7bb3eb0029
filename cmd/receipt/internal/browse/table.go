package browse

import (
	"path"
	"strings"

	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
)

// A column contains the values of one column of a table. Each distinct value is stored once, in the
// order of its first use.
type column struct {
	index map[string]int
	New   []string `json:"new"` // values that earlier parts of the table do not have
	At    []int    `json:"at"`  // for each row, the index of its value
}

func (c *column) add(value string) {
	at, known := c.index[value]
	if !known {
		at = len(c.index)
		if c.index == nil {
			c.index = map[string]int{}
		}
		c.index[value] = at
		c.New = append(c.New, value)
	}
	c.At = append(c.At, at)
}

// A table is a part of the list of receipts, stored by column.
type table struct {
	Columns map[string]*column `json:"columns"`
	IDs     []string           `json:"ids"`
	Numbers []int              `json:"numbers"` // line or item of the source; 0 if it contains no other document
	Times   []*int64           `json:"times"`   // issued_at in milliseconds since 1970; null: not recorded
	Breaks  []int              `json:"breaks"`  // rows at which a stream breaks
}

// add adds a receipt to the table. The parameter at is the row of the receipt in the entire list.
func (t *table) add(rep *receipt.Report, row *rows.Row, sentence string, at int) {
	for name, value := range map[string]string{
		"verdict": row.Verdict, "code": row.Code, "directory": directory(row.Source), "source": row.Source, "issuer": row.Issuer,
		"workspace": row.Workspace, "stream": row.Stream, "key": keyOf(rep), "model": row.Model, "sentence": sentence,
	} {
		if t.Columns == nil {
			t.Columns = map[string]*column{}
		}
		if t.Columns[name] == nil {
			t.Columns[name] = &column{}
		}
		t.Columns[name].add(value)
	}

	number := 0
	if rep.Listed || rep.Index > 1 {
		number = rep.Index
	}
	t.IDs = append(t.IDs, row.ReceiptID)
	t.Numbers = append(t.Numbers, number)
	t.Times = append(t.Times, timeOf(row.IssuedAt))
	if rep.Check(receipt.StepLink).Status == receipt.StatusFailed {
		t.Breaks = append(t.Breaks, at)
	}
}

// next empties the table for its next part.
func (t *table) next() {
	for _, c := range t.Columns {
		c.New, c.At = nil, nil
	}
	t.IDs, t.Numbers, t.Times, t.Breaks = nil, nil, nil, nil
}

// directory returns the directory of an input, or "" for the current directory.
func directory(source string) string {
	if dir := path.Dir(strings.ReplaceAll(source, `\`, "/")); dir != "." {
		return dir
	}
	return ""
}

// keyOf returns the ID of the key that signed as the issuer. If no key signed as the issuer, it
// returns the key ID of the first signature.
func keyOf(rep *receipt.Report) string {
	key := ""
	for _, s := range rep.Signatures {
		if s.Role == receipt.RoleIssuer {
			return untrusted.Cut(s.KeyID, 200)
		}
		if key == "" {
			key = untrusted.Cut(s.KeyID, 200)
		}
	}
	return key
}

// timeOf returns a time in milliseconds. If the log of a receipt recorded no time, the receipt
// states 1970 as a placeholder.
func timeOf(at *rows.Instant) *int64 {
	if at == nil || *at <= 0 {
		return nil
	}
	ms := int64(*at) / 1000
	return &ms
}
