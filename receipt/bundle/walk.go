package bundle

import (
	"github.com/receiptkit/receiptkit/canon"
)

// A walk visits a bundle in the order in which it is written, removes the data that the mode
// removes, and prints the remaining data. It makes two passes, because the list of removals is
// printed before the end of the bundle. The first pass determines the removals and the size, and
// the second pass writes the bundle.
type walk struct {
	manner
	*printer
	marks  *marks
	prior  prior
	bundle bool        // false for a run record alone
	note   func(Entry) // called for each removal; nil in the second pass

	steps []step
	pairs []pair // members of the enclosing objects
	err   *Error
}

// A context describes the position of a value in the bundle.
type context struct {
	shape    *shape
	name     string // name of the member with this value; "" for an element
	level    int
	pointers bool // inside a list of pointers to logs, where path is a local path
	roots    bool // an element of the workspace roots, whose path is a local path
	silent   bool // the value is withheld, so it is searched but not printed
}

// These are the names of lists that contain local paths.
const (
	eventLogPointers   = "event_log_pointers"
	transcriptPointers = "transcript_pointers"
	additionalRoots    = "additional_roots"
)

// value visits a value.
func (w *walk) value(v value, c context) {
	if w.err != nil || w.printer.err != nil {
		return
	}

	switch v.kind() {
	case canon.KindString:
		w.string(v, c)
	case canon.KindArray:
		w.array(v, c)
	case canon.KindObject:
		w.object(v, c)
	default:
		w.print(c, func() { w.write(v.raw()) })
	}
}

// print prints a value that is not withheld.
func (w *walk) print(c context, do func()) {
	if !c.silent {
		do()
	}
}

// taken records the removal of data at the current location.
func (w *walk) taken(class string, replacement string, c context) {
	if w.note != nil {
		w.listed(Entry{w.marks.path(w.steps), class, replacement}, c)
	}
}

// listed records an entry in the list of removals. The entry for a string in a withheld value does
// not contain the changed string.
func (w *walk) listed(e Entry, c context) {
	if c.silent && e.Class == classText {
		e.Replacement = withheld
	}
	w.note(e)
}

// gone writes a placeholder in place of a value if the format allows a string at that location. An
// object in a list is replaced with an empty object if the format requires no members of it.
func (w *walk) gone(class string, with string, c context) {
	switch {
	case c.shape.takesText():
		w.taken(class, with, c)
		w.print(c, func() { w.printer.string([]byte(with)) })
	case len(w.steps) > 0 && w.steps[len(w.steps)-1].index >= 0 && len(c.shape.required) == 0:
		w.taken(class, emptied, c)
		w.print(c, func() { w.text(emptied) })
	default:
		w.err = &Error{UnsafeSecretMarker, w.marks.path(w.steps), "the name of a member, in an object that the format wants"}
	}
}

func (w *walk) string(v value, c context) {
	if w.redacts() {
		if marked, ok := w.marks.of(v); ok {
			w.taken(classText, string(marked.Text), c)
			w.print(c, func() { w.printer.string(marked.Text) })
			return
		}
		w.listedBefore(v.content(), c)
	}
	w.print(c, func() {
		if v.made == nil {
			w.node(v.node)
			return
		}
		w.printer.string(v.content())
	})
}

// listedBefore records the removals of an earlier pass that may have produced the given content.
func (w *walk) listedBefore(left []byte, c context) {
	if w.note != nil && len(w.prior.entries) > 0 {
		w.prior.borneOut(w.marks.path(w.steps), left, func(e Entry) { w.listed(e, c) })
	}
}

func (w *walk) array(v value, c context) {
	if v.made != nil && v.made.entries != nil {
		w.entries(*v.made.entries, c.level)
		return
	}

	// Elements are one level deeper than their list.
	within := context{
		shape: c.shape.child(step{"", 0}), level: c.level + 1, silent: c.silent,
		pointers: c.pointers || c.name == eventLogPointers || c.name == transcriptPointers, roots: c.name == additionalRoots,
	}

	w.print(c, func() { w.text("[") })
	empty := true
	for i, e := range v.each {
		w.print(c, func() { w.next(empty, within.level) })
		empty = false
		w.steps = append(w.steps, step{"", i})
		w.value(e, within)
		w.steps = w.steps[:len(w.steps)-1]
		if w.err != nil || w.printer.err != nil {
			return
		}
	}
	w.print(c, func() { w.end("]", empty, c.level) })
}

func (w *walk) object(v value, c context) {
	from := len(w.pairs)
	w.pairs = v.appendPairs(w.pairs)
	to := len(w.pairs)
	defer func() { w.pairs = w.pairs[:from] }()

	if w.redacts() && from == to {
		w.listedBefore([]byte(emptied), c)
	}

	// If a name contains a secret, the whole object is removed, because a name cannot be replaced.
	for i := from; w.redacts() && i < to; i++ {
		if w.marks.name(w.pairs[i].name).secret {
			w.gone(classText, placeholder, c)
			return
		}
	}

	w.print(c, func() { w.text("{") })
	for i := from; i < to; i++ {
		m := w.pairs[i]
		w.print(c, func() {
			w.next(i == from, c.level+1)
			w.name(m.name)
		})
		w.steps = append(w.steps, step{w.marks.name(m.name).name, -1})
		w.member(m, c)
		w.steps = w.steps[:len(w.steps)-1]
		if w.err != nil || w.printer.err != nil {
			return
		}
	}
	w.print(c, func() { w.end("}", from == to, c.level) })
}

// member handles the value of a member, depending on the member's name.
func (w *walk) member(m pair, c context) {
	mark := w.marks.name(m.name)
	name := mark.name
	within := context{shape: c.shape.child(step{name, -1}), name: name, level: c.level + 1, pointers: c.pointers, silent: c.silent}

	null := m.value.kind() == canon.KindNull

	switch {
	case w.bundle && len(w.steps) == 1 && name == "redaction": // this pass creates the member
		w.manifest(m.value, within)
	case w.redacts() && mark.sensitive, w.redacts() && name == "path" && c.roots:
		w.gone(classField, placeholder, within)
	case w.redacts() && name == "path" && c.pointers && !null:
		w.gone(classPath, placeholder, within)
	case !c.silent && !null && (w.withholds() && mark.payload || w.strict && mark.strict):
		w.searchOnly(m.value, within)
		w.gone(classPayload, withheld, within)
	default:
		w.value(m.value, within)
	}
}

// searchOnly searches a withheld value for removals from an earlier pass.
func (w *walk) searchOnly(v value, c context) {
	if w.note != nil {
		c.silent = true
		w.value(v, c)
	}
}

// manifest prints the redaction member, without removing anything from it.
func (w *walk) manifest(v value, c context) {
	plain := walk{manner: manner{mode: Local}, printer: w.printer, marks: w.marks}
	plain.value(v, c)
}

// entries prints the list of removals.
func (w *walk) entries(list []Entry, level int) {
	w.text("[")
	for i, e := range list {
		w.next(i == 0, level+1)
		w.entry(e, level+1)
	}
	w.end("]", len(list) == 0, level)
}

func (w *walk) entry(e Entry, level int) {
	w.text("{")
	for i, m := range [...]struct{ name, value string }{
		{"action", actionOf(e.Class)}, {"class", e.Class}, {"path", e.Path}, {"replacement", e.Replacement},
	} {
		w.next(i == 0, level+1)
		w.name([]byte(m.name))
		w.printer.string([]byte(m.value))
	}
	w.end("}", false, level)
}
