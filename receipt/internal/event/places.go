package event

import (
	"path"
	"strings"
)

// Outside is the label for a path outside the workspace.
const Outside = "(outside the workspace)"

// InWorkspace returns a path relative to the workspace, with slashes. When it checks whether the
// path leaves the workspace, it also treats a backslash as a separator.
func InWorkspace(root, p string) (string, bool) {
	root, p = trimmed(cleaned(root)), cleaned(p)
	if drive(root) && drive(p) && p[0]^root[0] == 0x20 { // drive letters are case-insensitive
		p = root[:1] + p[1:]
	}
	slashed, under := slashes(p), slashes(root)
	if drive(root) { // in Windows paths, a backslash always separates names
		p = slashed
	}

	// A directory whose name merely starts with the root's name is a different directory.
	if under != "" && strings.HasPrefix(slashed, under) {
		if rest := slashed[len(under):]; under == "/" || strings.HasPrefix(rest, "/") {
			slashed = strings.TrimLeft(rest, "/")
			p = strings.TrimLeft(p[len(under):], `/\`)
		}
	}

	// An absolute path, a path below a home directory or a drive, and a URL are outside the
	// workspace.
	if slashed == "" || slashed[0] == '/' || slashed[0] == '~' || drive(slashed) || strings.HasPrefix(slashed, "file:") {
		return Outside, false
	}
	if p = path.Clean(p); leaves(p) || leaves(path.Clean(slashed)) {
		return Outside, false
	}

	return p, true
}

func leaves(p string) bool { return p == ".." || strings.HasPrefix(p, "../") }

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

func drive(p string) bool {
	return len(p) > 1 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// IsHTTP reports whether a URL has the scheme http or https.
func IsHTTP(at string) bool {
	lower := strings.ToLower(at)
	return strings.HasPrefix(lower, "http:") || strings.HasPrefix(lower, "https:")
}

// noHost is the placeholder for a missing or ambiguous host.
const noHost = "unknown"

// HostOf returns only the host of a URL or of host:port, because user information, path, and query
// may contain secrets. It returns noHost and false if there is no host or if URL parsers disagree
// about it (RFC 3986, 3.2; browsers treat a backslash as a slash, ignore whitespace, and normalize
// wide characters).
func HostOf(at string) (host string, clear bool) {
	switch scheme, rest, ok := strings.Cut(at, "://"); {
	case ok && isScheme(scheme):
		at = rest
	case IsHTTP(at):
		return noHost, false
	default:
		at = strings.TrimPrefix(at, "//")
	}

	// RFC 3986 section 3.2: the authority ends at the first of these.
	if i := strings.IndexAny(at, "/?#"); i >= 0 {
		at = at[:i]
	}
	if strings.ContainsFunc(at, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '\\' }) {
		return noHost, false
	}

	// RFC 3986 section 3.2.1: remove user information, which may contain a password.
	at = at[strings.LastIndexByte(at, '@')+1:]

	// RFC 3986 section 3.2.2: colons between brackets are part of an address.
	port := ""
	switch end := strings.IndexByte(at, ']'); {
	case strings.HasPrefix(at, "[") && end > 0:
		at, port = at[:end+1], strings.TrimPrefix(at[end+1:], ":")
	case strings.Count(at, ":") == 1:
		at, port, _ = strings.Cut(at, ":")
	}

	if at == "" || strings.Trim(port, "0123456789") != "" || strings.ContainsAny(at, "\"<>^|%`{}。．｡／＼？＃＠：") {
		return noHost, false
	}
	at = strings.ToLower(at)
	return at, at != noHost
}

// isScheme reports whether a text is the scheme of a URL (RFC 3986, 3.1).
func isScheme(s string) bool {
	s = strings.ToLower(s)
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}
