package bundle

import "io"

// A Text is a bundle or a run record that is written on demand. It needs memory only for the
// removed data. It reads from its source, which must not change until the Text has been written.
// Only one goroutine at a time may call its methods.
type Text struct {
	Entries []Entry // the removals, in the order of redaction.entries
	Size    int64   // bytes

	root   value
	listed *[]Entry // the list in the manifest of root
	manner manner
	marks  *marks
	shape  *shape // shape of a bundle; nil for a run record
}

// newText determines the removals and the size of the output.
func newText(t *Text, before prior) (*Text, error) {
	t.Entries = []Entry{}

	// The first pass counts bytes and collects the removals.
	w := t.walk(new(printer))
	listed := 0 // in bytes, because the paths into a deep list may be longer than its content
	w.prior, w.note = before, func(e Entry) {
		if listed += len(e.Path) + len(e.Replacement); listed > MaxBytes {
			w.printer.err = tooLarge("the paths of removed data")
			return
		}
		t.Entries = append(t.Entries, e)
	}
	w.value(t.root, context{shape: t.shape})
	if w.err != nil {
		return nil, w.err
	}
	if w.printer.err != nil {
		return nil, w.printer.err
	}

	// The list of removals was empty when the size was counted.
	if sortEntries(t.Entries); t.listed != nil {
		*t.listed = t.Entries
		w.entries(t.Entries, 2)
		w.size -= int64(len("[]"))
	}

	t.Size = w.size + int64(len("\n"))
	if w.printer.err != nil {
		return nil, w.printer.err
	}
	return t, nil
}

func (t *Text) walk(p *printer) *walk {
	return &walk{manner: t.manner, printer: p, marks: t.marks, bundle: t.shape != nil}
}

// WriteTo writes the bundle or the run record to w. It stops at the first error from w.
func (t *Text) WriteTo(w io.Writer) (int64, error) {
	p := newPrinter(w)
	t.walk(p).value(t.root, context{shape: t.shape})
	p.text("\n")
	err := p.flush()
	return p.under.n, err
}
