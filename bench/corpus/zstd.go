package main

import "github.com/klauspost/compress/zstd"

// window is as much as a decoder of RFC 8878 has to support (section 3.1.1.1.2).
const window = 8 << 20

// A compressed is JSON Lines in one Zstandard frame.
type compressed struct {
	*part
	encoder *zstd.Encoder
}

func newZstd(path string) (sink, error) {
	p, err := newPart(path)
	if err != nil {
		return nil, err
	}
	// One goroutine, so that the processors have no say in the bytes.
	e, err := zstd.NewWriter(p, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		p.discard()
		return nil, err
	}
	return compressed{p, e}, nil
}

func (c compressed) put(_ int, text []byte) error {
	if _, err := c.encoder.Write(text); err != nil {
		return err
	}
	_, err := c.encoder.Write([]byte{'\n'})
	return err
}

func (c compressed) keep() (string, error) {
	if err := c.encoder.Close(); err != nil {
		return "", err
	}
	return c.part.keep()
}
