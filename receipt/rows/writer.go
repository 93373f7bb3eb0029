package rows

import (
	"io"

	"github.com/parquet-go/parquet-go"
)

// Rows are collected until they are so many, and then written as one group, whose columns
// are read apart: enough that they compress, and so few that they need little memory.
const (
	groupRows  = 1 << 16
	groupBytes = 16 << 20 // of their texts

	batchRows = 256 // rows that are handed over at once
)

// A Writer writes rows as Parquet. A text that recurs is in a dictionary; what it has in
// common with the text above is left out of any other (DELTA_BYTE_ARRAY), and of a whole
// number there is the difference from the one above (DELTA_BINARY_PACKED): less remains for
// zstd, which takes the most time. Memory does not grow with their
// number, but for some kilobytes each 65,536 rows, which tell at the end of the file where
// their columns lie.
type Writer struct {
	w     *parquet.GenericWriter[Row]
	batch []parquet.Row
	used  int // rows of the batch
	values
	rows, bytes int // of the group
}

// NewWriter returns one that writes to w. What it writes is a file only after Close.
func NewWriter(w io.Writer) *Writer {
	return &Writer{
		w: parquet.NewGenericWriter[Row](w, parquet.Compression(newCodec()), parquet.PageBufferSize(64<<10),
			parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaByteArray), parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked)),
		batch: make([]parquet.Row, batchRows),
	}
}

// Write adds a row.
func (w *Writer) Write(r Row) error {
	before := len(w.memory)
	w.row = w.batch[w.used][:0]
	r.each(&w.values)
	w.batch[w.used] = w.row
	w.used++
	w.rows++
	w.bytes += len(w.memory) - before
	full := w.rows >= groupRows || w.bytes >= groupBytes
	if !full && w.used < len(w.batch) {
		return nil
	}

	if err := w.flush(); err != nil || !full {
		return err
	}
	w.rows, w.bytes = 0, 0
	return w.w.Flush()
}

func (w *Writer) flush() error {
	_, err := w.w.WriteRows(w.batch[:w.used])
	w.used, w.memory = 0, w.memory[:0]
	return err
}

// Close writes what is left, and what makes it a file. It does not close what it writes to.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.w.Close()
}
