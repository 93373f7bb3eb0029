package redact

import "github.com/receiptkit/receiptkit/canon"

// A writer writes a document in which values are replaced or removed and entries are added. Members
// are not sorted, because the result is parsed again.
type writer struct {
	hits map[canon.Node]*hit
	// holds contains the objects and arrays that contain a hit. All other objects and arrays are
	// copied.
	holds   map[canon.Node]*shape
	entries []Entry
	root    canon.Node
}

func write(d *canon.Document, hits []hit, entries []Entry) []byte {
	if len(hits) == 0 {
		return d.Source()
	}
	w := writer{map[canon.Node]*hit{}, map[canon.Node]*shape{}, entries, d.Root()}

	// Only values that contain a hit are rewritten. If a value has been recorded, so have its
	// ancestors.
	for i := range hits {
		w.hits[hits[i].at.node] = &hits[i]
		for p := hits[i].at.parent; p != nil; p = p.parent {
			if _, ok := w.holds[p.node]; ok {
				break
			}
			w.holds[p.node] = p.shape
		}
	}
	return w.value(make([]byte, 0, len(d.Source())+256*len(hits)), w.root)
}

func (w *writer) value(b []byte, n canon.Node) []byte {
	if h, ok := w.hits[n]; ok {
		return append(b, h.replacement()...)
	}

	// A value that contains no hit is copied unchanged.
	s, ok := w.holds[n]
	switch {
	case !ok:
		return append(b, n.Raw()...)
	case n.Kind() == canon.KindArray:
		b = append(b, '[')
		for i, e := range n.Elements() {
			if i > 0 {
				b = append(b, ',')
			}
			b = w.value(b, e)
		}
		return append(b, ']')
	}

	return w.object(b, n, s)
}

func (w *writer) object(b []byte, n canon.Node, s *shape) []byte {
	left, dropped := map[string]bool{}, false
	b = append(b, '{')
	for name, v := range n.Members() {
		h := w.hits[v]
		if h != nil && h.replacement() == nil {
			dropped = true
			continue
		}
		b = append(append(w.comma(b), name.Raw()...), ':')
		if n == w.root && name.String() == "redactions" {
			b = w.redactions(b, v)
		} else {
			b = w.value(b, v)
		}
		left[name.String()] = true
	}

	// A draft without redactions gets a list for the new entries.
	if n == w.root && !left["redactions"] {
		b = w.redactions(append(w.comma(b), `"redactions":`...), canon.Node{})
	}

	// A material must have its bytes with their digest, a URI with a digest, or metadata. If a member
	// is removed, it is the bytes or the digest.
	if dropped && s.isMaterial() && !left["metadata"] && !(left["sha256"] && left["uri"]) {
		b = append(w.comma(b), `"metadata":{}`...)
	}
	return append(b, '}')
}

// comma appends a comma unless the next member is the first one.
func (w *writer) comma(b []byte) []byte {
	if b[len(b)-1] == '{' {
		return b
	}
	return append(b, ',')
}

// redactions writes the list of redactions, with new entries after existing entries.
func (w *writer) redactions(b []byte, list canon.Node) []byte {
	b = append(b, '[')
	for _, e := range list.Elements() {
		b = append(w.value(b, e), ',')
	}
	for _, e := range w.entries {
		b = append(e.append(b), ',')
	}
	b[len(b)-1] = ']' // the list has entries, because otherwise nothing would be written
	return b
}
