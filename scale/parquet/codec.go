package parquet

import (
	"github.com/klauspost/compress/zstd"
	pages "github.com/parquet-go/parquet-go/compress/zstd"
)

// A codec compresses pages. Most values that differ from row to row are hexadecimal, without
// repetitions but with only four bits per digit. The library's own codec looks for repetitions,
// and does not shorten a page without them.
type codec struct {
	pages.Codec
	encoder *zstd.Encoder
}

func newCodec() *codec {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithAllLitEntropyCompression(true), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false)) // a page has a checksum of its own
	if err != nil {
		panic(err) // the options do not contradict each other
	}
	return &codec{encoder: encoder}
}

// Encode writes the compressed form of src to the start of dst.
func (c *codec) Encode(dst, src []byte) ([]byte, error) {
	return c.encoder.EncodeAll(src, dst[:0]), nil
}
