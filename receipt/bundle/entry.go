package bundle

import (
	"bytes"
	"slices"
	"strings"
)

// The class of an entry gives the reason for the removal. Each class has its own replacement.
const (
	classField   = "sensitive_field"        // the member has a sensitive name; replaced with [redacted]
	classText    = "secret_pattern_or_url"  // the string contains a secret or a URL; replaced with placeholders, or with {} for an object
	classPath    = "local_pointer_path"     // a local path; replaced with [redacted]
	classPayload = "prompt_or_tool_payload" // a prompt, an argument, or a result; replaced with [withheld]
)

// actionOf returns the action of an entry with that class.
func actionOf(class string) string {
	if class == classPayload {
		return "withheld"
	}
	return "replaced"
}

// An Entry is a location in a bundle from which data was removed.
type Entry struct {
	Path        string
	Class       string // sensitive_field, secret_pattern_or_url, local_pointer_path, or prompt_or_tool_payload
	Replacement string // the current string; [withheld] if the entire value was withheld
}

// sortEntries sorts entries by path. Entries with the same path keep their order.
func sortEntries(list []Entry) {
	slices.SortStableFunc(list, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

// left returns the replacement for a value that was removed entirely. If a string was changed and
// then withheld, the changed string is not listed.
func left(class string) string {
	if class == classField || class == classPath {
		return placeholder
	}
	return withheld
}

// A prior value is the list of removals in a bundle that was sanitized before. A removal that a
// second pass cannot find again stays listed if it is consistent with the content of the bundle.
type prior struct{ entries []Entry }

// priorOf reads the list of removals from a bundle. The paths in the list are untrusted. A path
// that looks like a secret or is not valid is omitted.
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

// borneOut yields the entries that are consistent with the content at a path. If the content may be
// the result of an earlier removal, these include entries for the path itself. If the content was
// withheld, these also include the entries for all paths below the path.
func (p prior) borneOut(path string, content []byte, yield func(Entry)) {
	for _, e := range p.under(path, false) {
		if e.Class == classText && e.Replacement == string(content) && maybeLeft(content) {
			yield(e)
		}
	}

	// Removals within a withheld value stay listed.
	if string(content) != withheld {
		return
	}
	for _, next := range []string{".", "["} {
		for _, e := range p.under(path+next, true) {
			yield(Entry{e.Path, e.Class, left(e.Class)})
		}
	}
}

// maybeLeft reports whether a string can be the result of a removal: it contains a placeholder, is
// the {} of an emptied object, or may contain a URL, from which user information can be removed
// without a trace. The slashes of a URL may be written as escapes.
func maybeLeft(content []byte) bool {
	return hasPlaceholder(content) || string(content) == emptied || bytes.Contains(content, []byte("//")) || bytes.ContainsAny(content, `%\`)
}

// hasPlaceholder reports whether a string contains a placeholder, regardless of which program wrote
// the placeholder and whether it is listed.
func hasPlaceholder(content []byte) bool {
	return string(content) == placeholder || string(content) == withheld || bytes.Contains(content, []byte("<redacted:"))
}

// under returns the entries with the given path or, if prefix is true, all entries whose paths
// begin with it.
func (p prior) under(path string, prefix bool) []Entry {
	// The list is sorted by path, so these entries are adjacent.
	from, _ := slices.BinarySearchFunc(p.entries, path, func(e Entry, path string) int { return strings.Compare(e.Path, path) })
	to := from
	for to < len(p.entries) && (p.entries[to].Path == path || prefix && strings.HasPrefix(p.entries[to].Path, path)) {
		to++
	}
	return p.entries[from:to]
}
