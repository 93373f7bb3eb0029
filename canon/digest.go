package canon

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// A Digest is a SHA-256 digest. Its string form is "sha256:" followed by 64 lowercase hexadecimal
// digits, 71 bytes in total. No other spelling is accepted when a digest is parsed. Digests can be
// compared with ==.
type Digest [sha256.Size]byte

const (
	digestPrefix = "sha256:"
	digestLen    = len(digestPrefix) + 2*sha256.Size
)

// portion is the maximum number of bytes that are hashed at a time. It limits how long an operation
// that pauses all goroutines, such as a phase of garbage collection, has to wait for a hash
// computation.
const portion = 256 << 10

// Sum returns the digest of data.
func Sum(data []byte) (d Digest) {
	if len(data) <= portion {
		return sha256.Sum256(data)
	}

	h := sha256.New()
	for len(data) > 0 {
		n := min(len(data), portion)
		h.Write(data[:n]) // hash.Hash never returns an error from Write
		data = data[n:]
	}
	h.Sum(d[:0])
	return d
}

// ParseDigest parses the string form of a digest. The error quotes at most the first 80 bytes of
// the text.
func ParseDigest[T ~string | ~[]byte](text T) (Digest, error) {
	var d Digest
	if len(text) != digestLen || string(text[:len(digestPrefix)]) != digestPrefix {
		return Digest{}, &digestError{string(text[:min(len(text), 128)])}
	}
	digits := []byte(text[len(digestPrefix):])
	for i := 0; i < len(d); i += 4 {
		four, ok := hex8(binary.LittleEndian.Uint64(digits[2*i:]))
		if !ok {
			return Digest{}, &digestError{string(text)}
		}
		binary.LittleEndian.PutUint32(d[i:], four)
	}
	return d, nil
}

// hex8 decodes eight lowercase hexadecimal digits into four bytes. Input and output are in
// little-endian byte order. It checks all eight digits in parallel: adding 0x80−c to every byte
// sets the high bit of each byte that is at least c.
func hex8(w uint64) (uint32, bool) {
	digit := (w + ones*(0x80-'0')) &^ (w + ones*(0x80-'9'-1))
	letter := (w + ones*(0x80-'a')) &^ (w + ones*(0x80-'f'-1))
	if w&highs != 0 || (digit|letter)&highs != highs {
		return 0, false
	}
	v := w&(ones*0x0f) + 9*(w>>6&ones)        // values of the digits: for a letter, bit 6 is set, and 'a'&15 is 1
	v = (v<<4 | v>>8) & 0x00ff_00ff_00ff_00ff // pairs of them
	v = (v | v>>8) & 0x0000_ffff_0000_ffff
	return uint32(v | v>>16), true
}

// hexDigit returns the value of a lowercase hexadecimal digit, or a value above 15 for any other
// byte.
func hexDigit(c byte) byte {
	// Conditional moves are used because branches on the digits of a digest would be mispredicted.
	value, digit, letter := uint(0xff), uint(c)-'0', uint(c)-'a'
	if digit < 10 {
		value = digit
	}
	if letter < 6 {
		value = letter + 10
	}
	return byte(value)
}

// IsZero reports whether d consists of 32 zero bytes, which represent an unknown digest.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns the string form of d.
func (d Digest) String() string {
	var buf [digestLen]byte
	return string(d.append(buf[:0]))
}

func (d Digest) append(dst []byte) []byte {
	return hex.AppendEncode(append(dst, digestPrefix...), d[:])
}

// AppendText appends the string form of d to dst.
func (d Digest) AppendText(dst []byte) ([]byte, error) { return d.append(dst), nil }

// MarshalText returns the string form of d.
func (d Digest) MarshalText() ([]byte, error) { return d.append(nil), nil }

// UnmarshalText accepts the same text as [ParseDigest].
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(text)
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
