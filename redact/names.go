package redact

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// foldName returns a name in lowercase, without _, -, and spaces, so that api_key, API-Key, "api
// key", and apiKey have the same result. Only ASCII letters are folded; full-width and Cyrillic
// letters are treated as different letters.
func foldName(name string) string {
	clean := func(c byte) bool { return c != '_' && c != '-' && c != ' ' && (c < 'A' || c > 'Z') }
	at := 0
	for at < len(name) && clean(name[at]) {
		at++
	}

	// Most names already have this form, so they are not copied.
	if at == len(name) {
		return name
	}

	b := []byte(name[:at])
	for _, c := range []byte(name[at:]) {
		switch {
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		case clean(c):
			b = append(b, c)
		}
	}

	return string(b)
}

// A nameSet is a set of folded names.
type nameSet struct {
	exact  map[string]bool
	suffix []string
}

func newNameSet(names ...string) (s nameSet) {
	for _, n := range names {
		s.add(n)
	}
	return s
}

// add adds a name to the set. It returns false if nothing remains of the name after folding.
func (s *nameSet) add(name string) bool {
	end, isSuffix := strings.CutPrefix(name, "*")
	folded := foldName(end)
	if folded == "" {
		return false
	}
	if isSuffix {
		s.suffix = append(s.suffix, folded)
		return true
	}
	if s.exact == nil {
		s.exact = map[string]bool{}
	}
	s.exact[folded] = true
	return true
}

// has reports whether the set contains a folded name.
func (s *nameSet) has(folded string) bool {
	if s.exact[folded] {
		return true
	}
	for _, end := range s.suffix {
		if strings.HasSuffix(folded, end) {
			return true
		}
	}
	return false
}

// isHeaders reports whether a folded name denotes an object that contains headers.
func isHeaders(folded string) bool { return strings.HasSuffix(folded, "headers") }

// sensitiveHeader implements upstream's header rule, which keeps some headers and withholds any
// other header whose name contains a sensitive word. It also withholds x-idempotency-key.
func sensitiveHeader(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	// These headers are kept even if their names contain a sensitive word.
	switch name {
	case "content-length", "content-type", "request-id", "user-agent", "x-a2a-delivery", "x-correlation-id", "x-github-delivery",
		"x-github-event", "x-github-hook-id", "x-request-id", "x-slack-request-timestamp":
		return false
	}

	for _, end := range []string{"-event", "-delivery"} {
		if strings.HasSuffix(name, end) {
			return false
		}
	}

	for _, part := range []string{"timestamp", "request-id"} {
		if strings.Contains(name, part) {
			return false
		}
	}

	for _, part := range []string{"authorization", "cookie", "secret", "signature", "token", "key"} {
		if strings.Contains(name, part) {
			return true
		}
	}

	return false
}

// reference reports whether text consists only of a variable, written as ${NAME} or $NAME.
func reference(text string) bool {
	name, ok := strings.CutPrefix(text, "$")
	if inner, open := strings.CutPrefix(name, "{"); open {
		name, ok = strings.CutSuffix(inner, "}")
	}
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for _, c := range []byte(name) {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// describes reports whether a value is an object, such as a JSON Schema, that describes a value but
// does not contain it.
func describes(value canon.Node) bool {
	for name, v := range value.Members() {
		switch name.String() {
		case "description", "title", "format", "pattern", "minLength", "maxLength", "nullable", "readOnly", "writeOnly", "required", "optional", "secret", "sensitive", "deprecated":
		case "type":
			switch v.String() {
			case "string", "integer", "number", "boolean", "array", "object", "null":
			default:
				return false
			}
		default:
			return false
		}
	}

	return value.Member("type").Kind() == canon.KindString
}

// A naming is a set of rules that withhold values because of the names of their members.
type naming struct {
	names      nameSet
	headers    bool
	references bool // are kept
}

// named returns the rule that withholds the value of a member, if there is one. The parameter
// headers is true if the object contains headers.
func (p *naming) named(name string, headers bool, value canon.Node) (rule string, ok bool) {
	switch {
	case p.names.has(foldName(name)):
		rule = ruleName
	case p.headers && headers && sensitiveHeader(name):
		rule = ruleHeader
	default:
		return "", false
	}
	if p.references && (reference(value.String()) || describes(value)) {
		return "", false
	}
	return rule, true
}

// isPrivateJWK reports whether a member is a private member of a JWK (RFC 7518 section 6, RFC
// 9964). In other objects, these names have other meanings.
func isPrivateJWK(object canon.Node, name string, value canon.Node) bool {
	switch name {
	case "d", "p", "q", "dp", "dq", "qi", "k", "priv":
		return object.Member("kty").Kind() == canon.KindString && len(value.Text()) >= 22
	}
	return false
}

// These are the names of members whose values the protocol's own harness removes when it exports
// data. [Upstream] includes all of them.
const (
	// localPaths are the names of members that contain local paths. A name is converted to
	// lowercase before it is compared with these names, without further folding.
	localPaths = `persisted_path primary run_path snapshot_ref snapshot_path source_path`

	// secretNames are in lowercase and without _ and -, because names are compared in this form.
	secretNames = `authorization proxyauthorization cookie setcookie apikey xamzsecuritytoken xapikey xauthtoken xcsrftoken xxsrftoken
		accesstoken refreshtoken idtoken bearertoken clientsecret password secret passwd privatekey sessiontoken`

	// secretEndings are the endings of further sensitive names, in the same form.
	secretEndings = `token secret password apikey`
)

// Sensitive reports whether the value of a member must be removed from a session bundle merely
// because of the member's name. A name is sensitive if its lowercase form is one of six names for
// local paths. It is also sensitive if its lowercase form, without _ and -, is one of twenty names
// for secrets or ends in token, secret, password, or apikey. For example, access_token, X-Api-Key,
// and dbPassword are sensitive, but input_tokens is not.
//
// This rule applies to session bundles. A [Policy] folds names further and has additional rules.
func Sensitive(name string) bool {
	lower := strings.ToLower(name)
	if anyOf(localPaths, func(path string) bool { return path == lower }) {
		return true
	}

	compact := strings.ReplaceAll(strings.ReplaceAll(lower, "_", ""), "-", "")
	return anyOf(secretNames, func(name string) bool { return name == compact }) ||
		anyOf(secretEndings, func(end string) bool { return strings.HasSuffix(compact, end) })
}

// anyOf reports whether any word in list satisfies the predicate. It is called for every name in
// every document, so it must not allocate memory.
func anyOf(list string, is func(word string) bool) bool {
	for word := range strings.FieldsSeq(list) {
		if is(word) {
			return true
		}
	}
	return false
}

// upstreamNames returns upstream's sensitive names, in the form that [Rules] uses.
func upstreamNames() (names []string) {
	names = append(strings.Fields(localPaths), strings.Fields(secretNames)...)
	for _, end := range strings.Fields(secretEndings) {
		names = append(names, "*"+end)
	}
	return names
}
