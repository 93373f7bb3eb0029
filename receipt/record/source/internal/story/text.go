package story

import (
	"strconv"

	"github.com/receiptkit/receiptkit/canon"
)

// An object is JSON that is being written. Members that are empty are left out: what is not
// told has no member.
type object struct {
	b    []byte
	more bool
}

func begin(b []byte) object { return object{b: append(b, '{')} }

func (o *object) name(name string) {
	if o.more {
		o.b = append(o.b, ',')
	}
	o.more = true
	o.b = append(canon.AppendString(o.b, name), ':')
}

func (o *object) text(name, value string) {
	if value != "" {
		o.name(name)
		o.b = canon.AppendString(o.b, value)
	}
}

func (o *object) count(name string, n *int64) {
	if n != nil {
		o.number(name, *n)
	}
}

func (o *object) number(name string, n int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// some writes a count that is not 0.
func (o *object) some(name string, n int) {
	if n != 0 {
		o.number(name, int64(n))
	}
}

func (o *object) is(name string, yes bool) {
	if yes {
		o.name(name)
		o.b = append(o.b, "true"...)
	}
}

func (o *object) digest(name string, d canon.Digest) {
	if !d.IsZero() {
		o.text(name, d.String())
	}
}

// state writes a digest, or null: there was no file.
func (o *object) state(name string, s State) {
	switch {
	case !s.Known:
	case s.Digest.IsZero():
		o.name(name)
		o.b = append(o.b, "null"...)
	default:
		o.digest(name, s.Digest)
	}
}

func (o *object) texts(name string, list []string) {
	if len(list) == 0 {
		return
	}
	o.name(name)
	for i, text := range list {
		o.b = canon.AppendString(append(o.b, "[,"[min(i, 1)]), text)
	}
	o.b = append(o.b, ']')
}

// counts writes an object of counts. The recorder sorts its members.
func (o *object) counts(name string, of map[string]int) {
	if len(of) == 0 {
		return
	}
	o.name(name)
	inner := begin(o.b)
	for _, key := range sorted(of) {
		inner.number(key, int64(of[key]))
	}
	o.b = inner.end()
}

// within writes an object that is a member.
func (o *object) within(name string, write func(*object)) {
	o.name(name)
	inner := begin(o.b)
	write(&inner)
	o.b = inner.end()
}

// list writes an array of objects.
func list[T any](o *object, name string, of []T, write func(*object, T)) {
	o.name(name)
	o.b = append(o.b, '[')
	for i, x := range of {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		inner := begin(o.b)
		write(&inner, x)
		o.b = inner.end()
	}
	o.b = append(o.b, ']')
}

func (o *object) end() []byte { return append(o.b, '}') }
