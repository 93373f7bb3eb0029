package survey

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/join"
)

// dice derives the fields of records from arbitrary bytes.
type dice struct{ rest []byte }

func (d *dice) number() int {
	var b [4]byte
	d.rest = d.rest[copy(b[:], d.rest):]
	return int(binary.BigEndian.Uint32(b[:]))
}

func (d *dice) digest() (sum canon.Digest) {
	d.rest = d.rest[copy(sum[:], d.rest):]
	return sum
}

func (d *dice) yes() bool { return d.number()%2 == 1 }

func (d *dice) time() int64 { return int64(d.number()) - 1<<31 }

func (d *dice) id() idRecord {
	id := d.digest()
	return idRecord{fingerprint(id[:16]), d.time(), d.digest(), d.number(), address{d.number(), d.number()}}
}

func (d *dice) hash() hashRecord {
	return hashRecord{d.digest(), d.yes(), d.number(), d.number(), address{d.number(), d.number()}, d.yes(), d.time()}
}

func (d *dice) link() linkRecord {
	return linkRecord{d.yes(), d.digest(), d.number(), d.time(), d.digest(), d.number(), address{d.number(), d.number()}, d.yes()}
}

// FuzzRecords verifies that a record is parsed without a change and has its fixed width, and that
// its bytes sort in the same order as its fields.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(nil), []byte(nil))
	f.Add([]byte("\x00\x00\x00\x01"), []byte("\x00\x00\x01\x00"))
	f.Add(bytes.Repeat([]byte{0xff}, 200), bytes.Repeat([]byte{0xfe}, 200))
	f.Add(bytes.Repeat([]byte{1, 2, 3}, 60), bytes.Repeat([]byte{1, 2, 3, 4}, 45))
	f.Fuzz(func(t *testing.T, one, other []byte) {
		x, y := dice{one}, dice{other}
		a, b := x.id(), y.id()
		if got := parseIDRecord(a.append(nil)); got != a {
			t.Errorf("wrote %+v, read %+v", a, got)
		}
		sorted(t, "id", idRecordWidth, a.append(nil), b.append(nil), cmp.Or(bytes.Compare(a.id[:], b.id[:]), join.Earlier(a.issued, a.hash, b.issued, b.hash), cmp.Compare(a.number, b.number)))

		x, y = dice{one}, dice{other}
		g, h := x.hash(), y.hash()
		if got := parseHashRecord(g.append(nil)); got != g {
			t.Errorf("wrote %+v, read %+v", g, got)
		}
		sorted(t, "hash", hashRecordWidth, g.append(nil), h.append(nil), cmp.Or(bytes.Compare(g.digest[:], h.digest[:]), cmp.Compare(flag(g.content), flag(h.content)), cmp.Compare(g.stream, h.stream), cmp.Compare(g.number, h.number)))

		x, y = dice{one}, dice{other}
		k, l := x.link(), y.link()
		if got := parseLinkRecord(k.append(nil)); got != k {
			t.Errorf("wrote %+v, read %+v", k, got)
		}
		sorted(t, "link", linkRecordWidth, k.append(nil), l.append(nil),
			cmp.Or(cmp.Compare(flag(l.first), flag(k.first)), bytes.Compare(k.digest[:], l.digest[:]), cmp.Compare(k.stream, l.stream),
				join.Earlier(k.issued, k.hash, l.issued, l.hash), cmp.Compare(k.number, l.number)))
	})
}

// sorted checks that the bytes are in the same order as the fields, and have the required fixed
// width.
func sorted(t *testing.T, kind string, width int, a, b []byte, want int) {
	t.Helper()
	if len(a) != width || len(b) != width {
		t.Errorf("%s: %d and %d bytes, expected %d", kind, len(a), len(b), width)
	}
	if got := bytes.Compare(a, b); want != 0 && got != want {
		t.Errorf("%s: bytes compare as %d, fields as %d", kind, got, want)
	}
}
