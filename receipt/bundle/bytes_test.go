package bundle

import "bytes"

// Bytes returns everything that WriteTo writes.
func (t *Text) Bytes() []byte {
	b := bytes.NewBuffer(make([]byte, 0, t.Size))
	_, _ = t.WriteTo(b) // writing to a buffer cannot fail
	return b.Bytes()
}
