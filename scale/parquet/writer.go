package parquet

import (
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/receiptkit/receiptkit/internal/rows"
)

// Rows are collected until one of these limits is reached, and are then written as a row group,
// whose columns are stored separately. The limits are high enough for good compression and low
// enough to use little memory.
const (
	groupRows  = 1 << 16
	groupBytes = 16 << 20 // size of their texts
)

// A Writer writes rows as Parquet. Repeated texts are stored in a dictionary. Other strings are
// stored without the prefix that they share with the previous string (DELTA_BYTE_ARRAY), and
// integers as the difference from the previous integer (DELTA_BINARY_PACKED). This leaves less data
// for zstd, which takes the most time. Memory use does not grow with the number of rows, except for
// a few kilobytes per 65,536 rows. These kilobytes describe the positions of the columns, and are
// written at the end of the file.
type Writer struct {
	w       *parquet.GenericWriter[rows.Row]
	columns []*parquet.ColumnWriter
	values
	count, bytes int   // number of rows and bytes in the group
	err          error // the first error, after which nothing is written
}

// NewWriter returns a Writer that writes to w. The output is not a valid file until Close returns.
func NewWriter(w io.Writer) *Writer {
	table := parquet.NewGenericWriter[rows.Row](w, parquet.Compression(newCodec()), parquet.PageBufferSize(64<<10),
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaByteArray), parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked))
	columns := table.ColumnWriters()
	return &Writer{w: table, columns: columns, values: values{columns: make([][batchRows]parquet.Value, len(columns))}}
}

// Write adds a row. After an error, all further calls return the same error.
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

// flush passes the batch to the library, one column at a time.
func (w *Writer) flush() {
	for i := 0; i < len(w.columns) && w.err == nil; i++ {
		_, w.err = w.columns[i].WriteRowValues(w.values.columns[i][:w.row])
	}
	w.row, w.memory = 0, w.memory[:0]
}

// Close writes the remaining rows and the footer. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.flush(); w.err == nil {
		w.err = w.w.Close()
	}
	return w.err
}
