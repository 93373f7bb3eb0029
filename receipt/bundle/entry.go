package bundle

import (
	"bytes"
	"slices"
	"strings"
)

// The classes of entries say why something was taken out. Each leaves something else.
const (
	classField   = "sensitive_field"        // the name of the member; [redacted]
	classText    = "secret_pattern_or_url"  // what the text holds; the text with placeholders, or {} of an object
	classPath    = "local_pointer_path"     // where something lies on a machine; [redacted]
	classPayload = "prompt_or_tool_payload" // what was said or returned; [withheld]
)

// actionOf is what was done.
func actionOf(class string) string {
	if class == classPayload {
		return "withheld"
	}
	return "replaced"
}

// An Entry is one place of a bundle where something was taken out.
type Entry struct {
	Path        string
	Class       string // sensitive_field, secret_pattern_or_url, local_pointer_path, or prompt_or_tool_payload
	Replacement string // what stands there now; of what is withheld as a whole, [withheld]
}

// sortEntries sorts by path. Of two of one path the one that was taken out first is first.
func sortEntries(list []Entry) {
	slices.SortStableFunc(list, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

// left is what stands in the place of a value that is gone as a whole. Of a text that
// was changed and then withheld nothing is told.
func left(class string) string {
	if class == classField || class == classPath {
		return placeholder
	}
	return withheld
}

// A prior manifest is the list of a bundle that something was taken out of before. What a
// second pass cannot find again stays listed, if the bundle bears it out.
type prior struct{ entries []Entry }

// priorOf reads the list of a bundle. Its paths are text of a stranger's: one in which
// something looks like a secret, or that is no path, is left out.
func priorOf(m *marks, bundle value) (p prior) {
	for _, n := range bundle.member("redaction").member("entries").each {
		e := Entry{string(n.member("path").content()), string(n.member("class").content()), string(n.member("replacement").content())}
		if !slices.Contains([]string{classField, classText, classPath, classPayload}, e.Class) {
			continue
		}

		if steps, ok := parsePath(e.Path); ok && m.path(steps) == e.Path {
			p.entries = append(p.entries, e)
		}
	}

	sortEntries(p.entries)
	p.entries = slices.CompactFunc(p.entries, func(a, b Entry) bool { return a.Path == b.Path && a.Class == b.Class })
	return p
}

// borneOut yields the entries that a text bears out: that it is what was left of a text, or
// that it stands for a value in which more was taken out.
func (p prior) borneOut(path string, content []byte, yield func(Entry)) {
	for _, e := range p.under(path, false) {
		if e.Class == classText && e.Replacement == string(content) && maybeLeft(content) {
			yield(e)
		}
	}

	// Of a value that was withheld, what was taken out in it stays listed.
	if string(content) != withheld {
		return
	}
	for _, next := range []string{".", "["} {
		for _, e := range p.under(path+next, true) {
			yield(Entry{e.Path, e.Class, left(e.Class)})
		}
	}
}

// maybeLeft reports whether a text can be what was left of something: it is or has a
// placeholder, or may have a URL, which loses its user information without one. The slashes
// of a URL may be written as escapes.
func maybeLeft(content []byte) bool {
	return hasPlaceholder(content) || string(content) == emptied || bytes.Contains(content, []byte("//")) || bytes.ContainsAny(content, `%\`)
}

// hasPlaceholder reports whether something was taken out of a text, by whomever and whether
// that is listed or not.
func hasPlaceholder(content []byte) bool {
	return string(content) == placeholder || string(content) == withheld || bytes.Contains(content, []byte("<redacted:"))
}

// under returns the entries of a path, or those whose paths begin so.
func (p prior) under(path string, prefix bool) []Entry {
	// Sorted by path, those of one path are next to each other, and so are those below it.
	from, _ := slices.BinarySearchFunc(p.entries, path, func(e Entry, path string) int { return strings.Compare(e.Path, path) })
	to := from
	for to < len(p.entries) && (p.entries[to].Path == path || prefix && strings.HasPrefix(p.entries[to].Path, path)) {
		to++
	}
	return p.entries[from:to]
}
