package parquet

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/receiptkit/receiptkit/receipt/rows"
)

// Rows are collected until they are so many, and then written as one group, whose columns
// are read apart: enough that they compress, and so few that they need little memory.
const (
	groupRows  = 1 << 16
	groupBytes = 16 << 20 // of their texts
)

// A Writer writes rows as Parquet. A text that recurs is in a dictionary; what it has in
// common with the text above is left out of any other (DELTA_BYTE_ARRAY), and of a whole
// number there is the difference from the one above (DELTA_BINARY_PACKED): less remains for
// zstd, which takes the most time. Memory does not grow with the number of rows, but for
// some kilobytes each 65,536 rows, which tell at the end of the file where their columns lie.
type Writer struct {
	w       *parquet.GenericWriter[rows.Row]
	columns []*parquet.ColumnWriter
	values
	count, bytes int   // rows and bytes of the group
	err          error // the first one, after which nothing is written
}

// NewWriter returns one that writes to w. What it writes is a file only after Close.
func NewWriter(w io.Writer) *Writer {
	table := parquet.NewGenericWriter[rows.Row](w, parquet.Compression(newCodec()), parquet.PageBufferSize(64<<10),
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaByteArray), parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked))
	columns := table.ColumnWriters()
	return &Writer{w: table, columns: columns, values: values{columns: make([][batchRows]parquet.Value, len(columns))}}
}

// Write adds a row. After an error there is no file: all that follows returns it, too.
func (w *Writer) Write(r rows.Row) error {
	if w.err != nil {
		return w.err
	}
	before := len(w.memory)
	r.Each(&w.values)
	w.row, w.column = w.row+1, 0
	w.count, w.bytes = w.count+1, w.bytes+len(w.memory)-before

	full := w.count >= groupRows || w.bytes >= groupBytes
	if full || w.row == batchRows {
		w.flush()
	}
	if full && w.err == nil {
		w.count, w.bytes = 0, 0
		w.err = w.w.Flush()
	}
	return w.err
}

// flush hands the batch over, a column at a time.
func (w *Writer) flush() {
	for i := 0; i < len(w.columns) && w.err == nil; i++ {
		_, w.err = w.columns[i].WriteRowValues(w.values.columns[i][:w.row])
	}
	w.row, w.memory = 0, w.memory[:0]
}

// Close writes what is left, and what makes it a file. It does not close what it writes to.
func (w *Writer) Close() error {
	if w.flush(); w.err == nil {
		w.err = w.w.Close()
	}
	return w.err
}
