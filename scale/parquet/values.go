package parquet

import (
	"github.com/parquet-go/parquet-go"

	"github.com/receiptkit/receiptkit/internal/rows"
)

// batchRows is the number of rows that are passed to the library at a time.
const batchRows = 256

// values contains the cells of some rows in the form that the library uses, column by column. The
// definition level specifies which cells are NULL. If the library received structs instead, it
// would store some zero values instead of NULL.
type values struct {
	columns [][batchRows]parquet.Value
	row     int    // index of the row that is being filled
	column  int    // index of the next cell in that row
	memory  []byte // memory for all texts
}

func (v *values) Text(s string) {
	from := len(v.memory)
	v.memory = append(v.memory, s...)
	v.add(parquet.ByteArrayValue(v.memory[from:]), s != "")
}

func (v *values) Flag(b *bool) { v.add(parquet.BooleanValue(b != nil && *b), b != nil) }

func (v *values) Count(n int64, there bool) { v.add(parquet.Int64Value(n), there) }

func (v *values) Amount(f *float64) {
	if f == nil {
		v.add(parquet.Value{}, false)
		return
	}
	v.add(parquet.DoubleValue(*f), true)
}

func (v *values) Time(i *rows.Instant) {
	if i == nil {
		v.add(parquet.Value{}, false)
		return
	}
	v.add(parquet.Int64Value(int64(*i)), true)
}

func (v *values) add(value parquet.Value, there bool) {
	at := &v.columns[v.column][v.row]
	v.column++
	if !there {
		*at = parquet.Value{}
		return
	}
	*at = value
	at.SetDefinitionLevel(1)
}
