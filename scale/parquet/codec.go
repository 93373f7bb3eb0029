package parquet

import (
	"github.com/klauspost/compress/zstd"
	pages "github.com/parquet-go/parquet-go/compress/zstd"
)

// A codec compresses pages. Most of what differs from row to row is hexadecimal, in which
// nothing comes again, and of which each digit is four bits: the library's own codec looks
// for what comes again, and where it finds nothing leaves a page as long as it was.
type codec struct {
	pages.Codec
	encoder *zstd.Encoder
}

func newCodec() *codec {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithAllLitEntropyCompression(true), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false)) // a page has a checksum of its own
	if err != nil {
		panic(err) // of options that contradict each other
	}
	return &codec{encoder: encoder}
}

// Encode writes the compressed form of src to dst, from its beginning.
func (c *codec) Encode(dst, src []byte) ([]byte, error) {
	return c.encoder.EncodeAll(src, dst[:0]), nil
}
