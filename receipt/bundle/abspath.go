package bundle

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// rulePath names the rule that removes absolute paths.
const rulePath = "absolute_path"

// withoutPaths replaces each absolute path in a string with a placeholder, and reports whether it
// replaced any. The function separator determines which bytes separate the parts of a path.
func withoutPaths(text []byte) ([]byte, bool) {
	var out []byte
	copied := 0
	for at := 0; at < len(text); {
		start, end := pathAt(text, at)
		if start == end {
			at = max(at+1, end)
			continue
		}
		out = append(append(out, text[copied:start]...), "<redacted:"+rulePath+":"+strconv.Itoa(end-start)+">"...)
		at, copied = end, end
	}
	if copied == 0 {
		return text, false
	}
	return append(out, text[copied:]...), true
}

// pathAt returns the start and end of the absolute path that is recognized at i. If there is no
// path at i, both results are the same offset, and no path begins between i and that offset.
func pathAt(text []byte, i int) (start, end int) {
	if bytes.HasPrefix(text[i:], []byte("://")) {
		return pathOfURL(text, i)
	}

	// The preceding character is checked first, so that a long run of slashes is not searched again
	// at each slash.
	if separator(text[i:]) == 0 && !isLetter(text[i]) || !opensPath(text, i) {
		return i, i
	}
	if root := rootOf(text[i:]); root > 0 {
		return i, pathEnd(text, i, i+root)
	}
	return i, i
}

// rootOf returns the length of the root at the beginning of an absolute path: / on POSIX, C:\ or \\
// on Windows. It returns 0 if there is no root.
func rootOf(text []byte) int {
	n := separator(text)
	switch {
	case len(text) > 2 && isLetter(text[0]) && text[1] == ':' && separator(text[2:]) > 0:
		return 2 + separator(text[2:])
	case n == 0:
		return 0
	case text[0] == '\\' && n == 1: // one backslash is an escape; two begin a server name
		if len(text) < 3 || text[1] != '\\' || !namesServer(text[2:]) {
			return 0
		}
		return 2
	}

	// A name must follow the root.
	for separator(text[n:]) > 0 {
		n += separator(text[n:])
	}
	if n == len(text) || !startsName(text[n:]) {
		return 0
	}
	return n
}

// separator returns the length of the separator at the beginning of a string. A separator is / or
// \, the percent-encoded form of one of these, or \/ (an escape in JSON).
func separator(text []byte) int {
	switch {
	case len(text) == 0:
		return 0
	case text[0] == '/':
		return 1
	case text[0] == '\\' && len(text) > 1 && text[1] == '/':
		return 2
	case text[0] == '\\':
		return 1
	case len(text) > 2 && text[0] == '%' && (strings.EqualFold(string(text[1:3]), "2f") || strings.EqualFold(string(text[1:3]), "5c")):
		return 3
	}
	return 0
}

// namesServer reports whether a server name and another backslash follow, as in \\server\share.
func namesServer(text []byte) bool {
	i := bytes.IndexFunc(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("._-$?", c)
	})
	return i > 0 && text[i] == '\\'
}

func startsName(text []byte) bool {
	c, _ := utf8.DecodeRune(text)
	return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_.-~$@+{%", c)
}

// opensPath reports whether a path that begins at i is absolute. It is not absolute if the text
// before i, such as a name, a dot, a variable, or a URL's host, is part of the path.
func opensPath(text []byte, i int) bool {
	if i == 0 {
		return true
	}
	before, size := utf8.DecodeLastRune(text[:i])
	switch {
	case i >= 3 && text[i-3] == '%' && isHexByte(text[i-2]) && isHexByte(text[i-1]): // cwd%3D%2Fhome
		return separator(text[i-3:]) == 0
	case size == 1 && isLetter(text[i-1]): // a compiler option: -I/usr/include
		return i >= 2 && text[i-2] == '-' && (i == 2 || text[i-3] <= ' ' || strings.IndexByte(`"'=,`, text[i-3]) >= 0)
	case unicode.IsLetter(before), unicode.IsDigit(before):
		return false
	}
	return !strings.ContainsRune(`_./\~)]}*%@$#-`, before)
}

// pathOfURL returns the local path in a URL. The :// of the URL is at i. A URL without a host
// refers to a file on this machine. In any other URL, only the query parameters can contain local
// paths.
func pathOfURL(text []byte, i int) (start, end int) {
	scheme := i
	for scheme > 0 && (isLetter(text[scheme-1]) || strings.IndexByte("0123456789+.-", text[scheme-1]) >= 0) {
		scheme--
	}
	host := i + len("://")
	if host < len(text) && separator(text[host:]) > 0 || strings.HasSuffix(strings.ToLower(string(text[scheme:i])), "file") {
		return i, pathEnd(text, i, host)
	}

	// The authority ends before the path, the query, or the fragment (RFC 3986 section 3.2).
	for host < len(text) && text[host] > ' ' && strings.IndexByte("/?#\"'<>`", text[host]) < 0 {
		host++
	}
	if host < len(text) && text[host] == '/' {
		host++
	}
	return host, host
}

// pathEnd returns where a path ends that begins at start and whose root ends at from. A path in
// quotation marks ends before the closing one. Any other path ends before whitespace, unless
// the next word continues it, and excludes the punctuation of the sentence.
func pathEnd(text []byte, start, from int) int {
	if start > 0 {
		if quote := text[start-1]; strings.IndexByte("\"'`", quote) >= 0 {
			if end := bytes.IndexAny(text[from:], string(rune(quote))+"\n"); end >= 0 && text[from+end] == quote {
				return from + end
			}
		}
	}

	end := from
	for end < len(text) && strings.IndexByte("\"<>|`\x7f", text[end]) < 0 {
		if text[end] <= ' ' && !(text[end-1] == '\\' || text[end] == ' ' && goesOn(text[end+1:])) {
			break
		}
		end++
	}
	for end > from && strings.IndexByte(`).,;:!?]}'*\`, text[end-1]) >= 0 {
		end--
	}
	return end
}

// goesOn reports whether the next word continues a path that contains a name with a space.
func goesOn(text []byte) bool {
	if i := bytes.IndexFunc(text, unicode.IsSpace); i >= 0 {
		text = text[:i]
	}
	return bytes.IndexAny(text, `/\`) > 0 && !bytes.Contains(text, []byte("://"))
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isHexByte(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
