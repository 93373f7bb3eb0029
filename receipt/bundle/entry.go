package bundle

import (
	"bytes"
	"slices"
	"strings"
)

// The classes of entries give the reason for a removal. Each class has a different replacement.
const (
	classField   = "sensitive_field"        // the member has a sensitive name; [redacted]
	classText    = "secret_pattern_or_url"  // the text contains a secret or a URL; placeholders in the text, or {} for an object
	classPath    = "local_pointer_path"     // a local path; [redacted]
	classPayload = "prompt_or_tool_payload" // a prompt, an argument, or a result; [withheld]
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
	Replacement string // the current text; [withheld] for a value that was withheld entirely
}

// sortEntries sorts by path. Entries with the same path keep their order.
func sortEntries(list []Entry) {
	slices.SortStableFunc(list, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

// left returns the replacement of a value that was removed entirely. If a text was changed and then
// withheld, the changed text is not listed.
func left(class string) string {
	if class == classField || class == classPath {
		return placeholder
	}
	return withheld
}

// A prior manifest is the list of removals in a bundle that was sanitized before. Entries that a
// second pass cannot find again stay listed if the content of the bundle supports them.
type prior struct{ entries []Entry }

// priorOf reads the list of a bundle. Its paths are foreign text. A path that looks like a secret,
// or that is not a valid path, is omitted.
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

// borneOut yields the entries that a text supports: the text may be the result of an earlier
// removal, or it replaces a value in which more was removed.
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

// maybeLeft reports whether a text can be the result of a removal: it contains a placeholder, is the
// {} of an emptied object, or may contain a URL, from which user information is removed without a
// trace. The slashes of a URL may be written as escapes.
func maybeLeft(content []byte) bool {
	return hasPlaceholder(content) || string(content) == emptied || bytes.Contains(content, []byte("//")) || bytes.ContainsAny(content, `%\`)
}

// hasPlaceholder reports whether a text contains a placeholder, regardless of which program wrote
// it and whether it is listed.
func hasPlaceholder(content []byte) bool {
	return string(content) == placeholder || string(content) == withheld || bytes.Contains(content, []byte("<redacted:"))
}

// under returns the entries with a path or, if prefix is true, all entries whose paths begin with
// it.
func (p prior) under(path string, prefix bool) []Entry {
	// In the order of paths, these entries are adjacent.
	from, _ := slices.BinarySearchFunc(p.entries, path, func(e Entry, path string) int { return strings.Compare(e.Path, path) })
	to := from
	for to < len(p.entries) && (p.entries[to].Path == path || prefix && strings.HasPrefix(p.entries[to].Path, path)) {
		to++
	}
	return p.entries[from:to]
}
