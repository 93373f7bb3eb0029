package bundle

import (
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// marks records which strings in a document look like secrets. Each string from the document is
// searched once, regardless of how often it is written. Strings that are created by this package
// are searched on demand.
type marks struct {
	marker *redact.Marker
	paths  bool                  // also remove absolute paths
	found  map[int]redact.Marked // key: offset of the string
	names  map[string]nameMark   // results for the first maxNames member names
	buffer []byte                // contains the path that is being written
}

// A nameMark is the result of a search for a member name.
type nameMark struct {
	name      string
	sensitive bool
	payload   bool          // ReplayOnly withholds its value
	strict    bool          // strict ReplayOnly does
	found     redact.Marked // secrets in the name itself
	secret    bool          // something was
	step      string        // the name as spelled in a path
}

// maxNames is the maximum number of cached names; documents rarely contain even a thousand names.
const maxNames = 1 << 14

func newMarks(marker *redact.Marker) *marks {
	return &marks{marker: marker, found: map[int]redact.Marked{}, names: map[string]nameMark{}}
}

// maxRounds is the maximum number of times that one string is searched for absolute paths.
const maxRounds = 8

// mark replaces secrets in a string with placeholders, and reports whether it found any. Marking
// the result again finds nothing.
func (m *marks) mark(text []byte) (redact.Marked, bool) {
	marked, found := m.marker.Mark(text)
	if !m.paths || isPointer(text) {
		return marked, found
	}
	if !found {
		marked.Text = text
	}

	for range maxRounds {
		left, more := withoutPaths(marked.Text)
		if !more {
			return marked, found
		}
		found, marked.Certain, marked.Text = true, true, left
		if !slices.Contains(marked.Rules, rulePath) {
			marked.Rules = append(marked.Rules, rulePath)
		}

		// The remaining string may now match a pattern.
		if again, ok := m.marker.Mark(left); ok {
			marked.Text, marked.Rules = again.Text, append(marked.Rules, again.Rules...)
		}
	}

	// The limit is reached, so the entire string is replaced.
	marked.Text = []byte(placeholder)
	return marked, true
}

// isPointer reports whether a string is one of the JSON Pointers that Export writes.
func isPointer(text []byte) bool {
	return string(text) == untoldVersion || string(text) == untoldModels
}

// search searches all strings in a value for secrets.
func (m *marks) search(n canon.Node) {
	switch n.Kind() {
	case canon.KindString:
		if marked, ok := m.mark(n.Text()); ok {
			m.found[n.Offset()] = marked
		}
	case canon.KindObject:
		for _, v := range n.Members() {
			m.search(v)
		}
	case canon.KindArray:
		for _, v := range n.Elements() {
			m.search(v)
		}
	}
}

// of returns the search result for a string value.
func (m *marks) of(v value) (redact.Marked, bool) {
	if v.made != nil {
		return m.mark(v.content())
	}

	marked, ok := m.found[v.node.Offset()]
	return marked, ok
}

// name returns the search result for a member name.
func (m *marks) name(name []byte) nameMark {
	if known, ok := m.names[string(name)]; ok {
		return known
	}

	mark := nameMark{name: string(name)}
	mark.found, mark.secret = m.mark(name)
	mark.sensitive = redact.Sensitive(mark.name)
	mark.payload, mark.strict = payloads(mark.name)

	// In a path, a name that looks like a secret is replaced with a placeholder.
	shown := mark.name
	if mark.secret {
		shown = string(mark.found.Text)
	}
	mark.step = string(appendStep(nil, step{shown, -1}))

	if len(m.names) < maxNames {
		m.names[string(name)] = mark
	}
	return mark
}

// path formats a path, with placeholders for names that look like secrets.
func (m *marks) path(steps []step) string {
	m.buffer = append(m.buffer[:0], '$')
	for _, s := range steps {
		if s.index < 0 {
			mark, known := m.names[s.name] // does not copy the name
			if !known {
				mark = m.name([]byte(s.name))
			}
			m.buffer = append(m.buffer, mark.step...)
			continue
		}
		m.buffer = appendStep(m.buffer, s)
	}
	return string(m.buffer)
}

// clean returns the content of a string value, with placeholders for secrets.
func (m *marks) clean(v value) string {
	if marked, ok := m.mark(v.content()); ok {
		return string(marked.Text)
	}
	return string(v.content())
}
