package event

import (
	"path"
	"strings"
)

// Outside is the label of a path outside the workspace.
const Outside = "(outside the workspace)"

// InWorkspace returns a path relative to the root of the workspace, with slashes as separators. To
// check whether a path leaves the workspace, it also treats a backslash as a separator.
func InWorkspace(root, p string) (string, bool) {
	root, p = trimmed(cleaned(root)), cleaned(p)
	if drive(root) && drive(p) && p[0]^root[0] == 0x20 { // drive letters are not case-sensitive
		p = root[:1] + p[1:]
	}
	slashed, under := slashes(p), slashes(root)
	if drive(root) { // in a Windows path, a backslash is always a separator
		p = slashed
	}

	// A directory whose name merely starts with the name of the root is a different directory.
	if under != "" && strings.HasPrefix(slashed, under) {
		if rest := slashed[len(under):]; under == "/" || strings.HasPrefix(rest, "/") {
			slashed = strings.TrimLeft(rest, "/")
			p = strings.TrimLeft(p[len(under):], `/\`)
		}
	}

	// Absolute paths, paths that start with a home directory or a drive, and URLs are outside the
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

// noHost is the placeholder for a host that is missing or ambiguous.
const noHost = "unknown"

// HostOf returns only the host from a URL or a host:port string, because user information, paths,
// and queries may contain secrets. It returns noHost and false if there is no host, or if URL
// parsers disagree about the host (RFC 3986 section 3.2). For example, browsers treat a backslash
// as a slash, ignore whitespace, and normalize wide characters.
func HostOf(at string) (host string, clear bool) {
	switch scheme, rest, ok := strings.Cut(at, "://"); {
	case ok && isScheme(scheme):
		at = rest
	case IsHTTP(at):
		return noHost, false
	default:
		at = strings.TrimPrefix(at, "//")
	}

	// The authority ends before the first of these characters (RFC 3986 section 3.2).
	if i := strings.IndexAny(at, "/?#"); i >= 0 {
		at = at[:i]
	}
	if strings.ContainsFunc(at, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '\\' }) {
		return noHost, false
	}

	// User information is removed, because it may contain a password (RFC 3986 section 3.2.1).
	at = at[strings.LastIndexByte(at, '@')+1:]

	// Colons within brackets are part of an IP address (RFC 3986 section 3.2.2).
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
