package rows

import (
	"reflect"
	"strconv"
	"strings"
)

// Cells receives the values of a row in the order of [Columns]. An empty string, a nil pointer, and
// an unknown count represent NULL.
type Cells interface {
	Text(string)
	Flag(*bool)
	Count(n int64, known bool)
	Amount(*float64)
	Time(*Instant)
}

func deref(n *int64) (int64, bool) {
	if n == nil {
		return 0, false
	}
	return *n, true
}

// Columns returns the names of the columns in order.
func Columns() (names []string) {
	for field := range reflect.TypeFor[Row]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		names = append(names, name)
	}
	return names
}

// A texts is a [Cells] that collects the cells of a row as strings.
type texts []string

func (t *texts) Text(s string) { *t = append(*t, s) }

func (t *texts) Flag(b *bool) {
	if b == nil {
		t.Text("")
		return
	}
	t.Text(strconv.FormatBool(*b))
}

func (t *texts) Count(n int64, there bool) {
	if !there {
		t.Text("")
		return
	}
	t.Text(strconv.FormatInt(n, 10))
}

func (t *texts) Amount(f *float64) {
	if f == nil {
		t.Text("")
		return
	}
	t.Text(strconv.FormatFloat(*f, 'f', -1, 64))
}

func (t *texts) Time(i *Instant) {
	if i == nil {
		t.Text("")
		return
	}
	t.Text(i.String())
}
