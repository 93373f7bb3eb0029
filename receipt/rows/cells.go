package rows

import (
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// Cells take the values of a row, one after the other. What is "" or nil, or not there, is
// NULL.
type cells interface {
	text(string)
	flag(*bool)
	count(n int64, there bool)
	amount(*float64)
	time(*Instant)
}

func deref(n *int64) (int64, bool) {
	if n == nil {
		return 0, false
	}
	return *n, true
}

// Columns are the names of the columns, in their order.
func Columns() (names []string) {
	for _, field := range parquet.SchemaOf(Row{}).Fields() {
		names = append(names, field.Name())
	}
	return names
}

// Texts are cells as text.
type texts []string

func (t *texts) text(s string) { *t = append(*t, s) }

func (t *texts) flag(b *bool) {
	if b == nil {
		t.text("")
		return
	}
	t.text(strconv.FormatBool(*b))
}

func (t *texts) count(n int64, there bool) {
	if !there {
		t.text("")
		return
	}
	t.text(strconv.FormatInt(n, 10))
}

func (t *texts) amount(f *float64) {
	if f == nil {
		t.text("")
		return
	}
	t.text(strconv.FormatFloat(*f, 'f', -1, 64))
}

func (t *texts) time(i *Instant) {
	if i == nil {
		t.text("")
		return
	}
	t.text(i.String())
}
