package parquet

import (
	"github.com/klauspost/compress/zstd"
	pages "github.com/parquet-go/parquet-go/compress/zstd"
)

// A codec compresses the pages of a file. Most values that differ from row to row are hexadecimal.
// Hexadecimal values contain no repetitions, but only four bits of information per digit. The
// library's own codec searches for repetitions, and does not shorten a page that contains none.
type codec struct {
	pages.Codec
	encoder *zstd.Encoder
}

func newCodec() *codec {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithAllLitEntropyCompression(true), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false)) // each page has a separate checksum
	if err != nil {
		panic(err) // the options cannot conflict
	}
	return &codec{encoder: encoder}
}

// Encode writes the compressed form of src to the start of dst.
func (c *codec) Encode(dst, src []byte) ([]byte, error) {
	return c.encoder.EncodeAll(src, dst[:0]), nil
}
