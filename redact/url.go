package redact

import (
	"bytes"
	"strings"
	"unicode"
)

// urlPlaceholder replaces the value of a parameter; it is [redacted], with the brackets
// percent-encoded as URLs require.
const urlPlaceholder = "%5Bredacted%5D"

// A urlRule removes secrets from URLs. It has its own parser, which accepts URLs as they are
// written, whether valid or not, and changes only the removed parts. The parser in net/url would
// reject some URLs, and would drop parameters that are separated by a semicolon.
type urlRule struct {
	mode       URLs
	params     nameSet
	fragment   nameSet // more, after #
	references bool
}

func newURLRule(mode URLs, references bool) urlRule {
	u := urlRule{mode: mode, references: references, params: newNameSet(strings.Fields(
		`apikey accesstoken refreshtoken idtoken clientsecret password secret token auth bearer sig signature *token *secret *password`)...)}
	if mode == URLsAnywhere {
		for _, n := range strings.Fields(`passwd pwd jwt assertion samlresponse privatekey accesskey sessionid authorization *signature *credential *apikey *passwd`) {
			u.params.add(n)
		}
		u.fragment = newNameSet("code")
	}
	return u
}

// An edit replaces the bytes of a string from start up to, but not including, end.
type edit struct {
	start, end int
	from       int // start of the name of the parameter; equal to start if there is no parameter
	with       string
	rule       string
}

// edits appends the edits that remove secrets from URLs in text.
func (u *urlRule) edits(list []edit, text []byte) []edit {
	switch {
	case u.mode == URLsKept:
		return list
	case u.mode == URLsWhole:
		if authority := wholeURL(text); authority > 0 {
			list = u.clean(list, text, authority, len(text))
		}
		return list
	}

	// Two slashes anywhere in the text may belong to a URL.
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte("//"))
		if i < 0 {
			return list
		}
		at += i
		if !opensURL(text, at) {
			at++
			continue
		}
		end := urlEnd(text, at)
		list = u.clean(list, text, at+2, end)
		at = max(end, at+2)
	}
}

// within appends the edits for the part of a string that begins at start, given a view of that
// part. A rule that applies only to entire strings does not use views.
func (u *urlRule) within(list []edit, v *view, start int) []edit {
	if u.mode != URLsAnywhere {
		return list
	}
	for _, e := range u.edits(nil, v.text) {
		list = append(list, edit{start + v.source(e.start), start + v.source(e.end), start + v.source(e.from), e.with, e.rule})
	}
	return list
}

// deep appends the edits for text, both as written and with one level of escapes removed.
func (u *urlRule) deep(list []edit, text []byte) []edit {
	list = u.edits(list, text)
	for _, l := range levels() {
		if v, ok := decode(text, l.begins, l.decoder); ok {
			list = u.within(list, &v, 0)
		}
	}
	return list
}

// wholeURL returns the start of the authority if the text consists of a single http(s) URL, and 0
// otherwise.
func wholeURL(text []byte) int {
	for _, scheme := range []string{"http://", "https://"} {
		if len(text) > len(scheme) && strings.EqualFold(string(text[:len(scheme)]), scheme) && !bytes.ContainsFunc(text, unicode.IsSpace) {
			return len(scheme)
		}
	}
	return 0
}

// opensURL reports whether an authority follows the two slashes at i. The slashes must follow a
// scheme or begin a word (RFC 3986 section 4.2).
func opensURL(text []byte, i int) bool {
	return i == 0 || text[i-1] == ':' || text[i-1] <= ' ' || strings.IndexByte(`"'(=,<>`+"`", text[i-1]) >= 0
}

// urlEnd returns the end of the URL whose slashes are at i. If the text is only a URL, the URL ends
// with the text. In prose, it ends before whitespace, a quotation mark, or an angle bracket, and
// excludes the punctuation of the sentence.
func urlEnd(text []byte, i int) int {
	start := i
	for start > 0 && isSchemeByte(text[start-1]) {
		start--
	}

	// A text that is only a URL has no prose around it.
	if start == 0 && !bytes.ContainsFunc(text[i:], unicode.IsSpace) {
		return len(text)
	}

	stops := `"<>` + "`"
	// An apostrophe may be part of a URL, unless the URL is enclosed in apostrophes.
	if start > 0 && text[start-1] == '\'' {
		stops += "'"
	}
	end := i + 2
	for end < len(text) && text[end] > ' ' && text[end] != 0x7f && strings.IndexByte(stops, text[end]) < 0 {
		end++
	}

	for end > i+2 && strings.IndexByte(`).,;:!?]}'*\`, text[end-1]) >= 0 {
		end--
	}
	return end
}

// isSchemeByte reports whether c is valid in a scheme (RFC 3986 section 3.1) or in a prefix such as
// jdbc:postgresql.
func isSchemeByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '+' || c == '.' || c == '-' || c == ':'
}

// clean appends the edits for the URL whose authority begins at start.
func (u *urlRule) clean(list []edit, text []byte, start, end int) []edit {
	list = u.userinfo(list, text, start, end)
	if u.mode == URLsAnywhere { // a URL may contain other URLs
		for at := start; ; {
			i := bytes.Index(text[at:end], []byte("://"))
			if i < 0 {
				break
			}
			at += i + 3
			list = u.userinfo(list, text, at, end)
		}
	}
	return u.parameters(list, text, start, end)
}

// userinfo removes the user information, which precedes the @ in the authority (RFC 3986 section
// 3.2.1). If there are several @ characters, the last one is used, as in all URL parsers. As in
// some URL parsers, a backslash does not end the authority. If a password contains an unescaped
// slash, the authority looks like a host with a port that is not a number.
func (u *urlRule) userinfo(list []edit, text []byte, start, end int) []edit {
	authority := text[start:end]
	if i := bytes.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	at := bytes.LastIndexByte(authority, '@')

	if at < 0 && u.mode == URLsAnywhere && badPort(authority) {
		at = bytes.LastIndexByte(text[start:end], '@')
	}
	if at <= 0 || u.references && referencePassword(authority[:min(at, len(authority))]) {
		return list
	}
	return append(list, edit{start, start + at + 1, start, "", ruleURL})
}

// referencePassword reports whether user information contains no secret, because the password is a
// variable, or because there is no password and the user is git, as in SSH URLs.
func referencePassword(userinfo []byte) bool {
	_, password, ok := bytes.Cut(userinfo, []byte(":"))
	if !ok {
		return string(userinfo) == "git"
	}
	return reference(string(password))
}

func badPort(authority []byte) bool {
	i := bytes.LastIndexByte(authority, ':')
	if i < 0 || i+1 == len(authority) {
		return false
	}

	// The port may be a template variable, and the host may be an IPv6 address (RFC 3986 section
	// 3.2.2).
	port := authority[i+1:]
	if strings.IndexByte("${<%", port[0]) >= 0 || bytes.IndexByte(port, ']') >= 0 {
		return false
	}
	return bytes.ContainsFunc(port, func(r rune) bool { return r < '0' || r > '9' })
}

// parameters replaces the values of sensitive parameters in the query and, with [URLsAnywhere],
// also in path segments (;name=value) and in the fragment.
func (u *urlRule) parameters(list []edit, text []byte, start, end int) []edit {
	anywhere := u.mode == URLsAnywhere
	fragment, query := false, false
	for at := start; at < end; {
		switch c := text[at]; {
		case c == '#' && !anywhere:
			return list
		case c == '#':
			fragment, query = true, true
		case c == '?':
			query = true
		case c == '&' && query, c == ';' && (query || anywhere):
		default:
			at++
			continue
		}

		at++
		stops := "&;#"
		// In the path, the next segment also ends a value.
		if !query {
			stops = "/;?#"
		}

		// A parameter has no value if there is no = before its end.
		equals := bytes.IndexAny(text[at:end], "=?/"+stops)
		if equals < 0 || text[at+equals] != '=' || !u.sensitive(text[at:at+equals], fragment) {
			continue
		}

		name := at
		at += equals + 1
		value := text[at:end]
		if i := bytes.IndexAny(value, stops); i >= 0 {
			value = value[:i]
		}

		if u.withheld(value) {
			list = append(list, edit{at, at + len(value), name, urlPlaceholder, ruleURL})
		}
		at += len(value)
	}

	return list
}

// maxParameter is the maximum length, in bytes, of the name of a parameter.
const maxParameter = 256

// sensitive interprets the name of a parameter in the same way as servers: token[], to%6ben, and
// TOKEN all mean token.
func (u *urlRule) sensitive(name []byte, fragment bool) bool {
	if len(name) > maxParameter {
		return false
	}
	if v, ok := decode(name, '%', percent); ok {
		name = v.text
	}
	name, _, _ = bytes.Cut(name, []byte("["))
	folded := foldName(string(name))
	return u.params.has(folded) || fragment && u.fragment.has(folded)
}

func (u *urlRule) withheld(value []byte) bool {
	switch text := string(value); {
	case text == "", text == urlPlaceholder, text == placeholder, u.references && reference(text):
		return false
	}
	return true
}
