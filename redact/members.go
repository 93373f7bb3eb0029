package redact

import (
	"bytes"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A member of an object is searched like an assignment in a string. In lists of variables, headers,
// and cookies, two members together form an assignment:
//
//	{"SecretAccessKey": "…"}
//	{"name": "DB_PASSWORD", "value": "…"}
//	["X-Api-Key", "…"]
//
// Detectors search each of these as an assignment, so that names have the same meaning everywhere.
// A value is withheld entirely if a detector matches the whole value. A match within the value does
// not depend on the name.

// maxAssigned is the maximum length, in bytes, of a value that is searched together with its name.
// A longer value is treated as a document that contains other names.
const maxAssigned = 4096

// maxPair is the maximum number of members of an object that is treated as a pair.
const maxPair = 16

// memberRules withhold a value because of a name: the value's own name, the name of its collection,
// or the name in its pair.
type memberRules struct {
	cleaner
	naming
	members bool
}

// assigned returns the rule that withholds a value because of the name to which it is assigned.
func (p *memberRules) assigned(name, value []byte, inCookies bool) (rule string, ok bool) {
	if len(value) < 4 || len(value) > maxAssigned || len(name) > maxParameter || !p.scanner.Knows(name) && !inCookies {
		return "", false
	}
	if strings.ContainsAny(string(value), "<[%") && p.hasPlaceholder(value) {
		return "", false
	}
	return p.foundWhole(p.assignment(name, value, inCookies), value)
}

// assignment formats a name and a value as an assignment in a program or a settings file.
func (p *memberRules) assignment(name, value []byte, inCookies bool) []byte {
	var b []byte
	if inCookies {
		return append(append(append(append(b, "Cookie: "...), name...), '='), value...)
	}

	// A value that contains double quotation marks is enclosed in single quotation marks.
	quote := byte('"')
	if strings.IndexByte(string(value), '"') >= 0 {
		quote = '\''
	}
	b = append(append(b, name...), '=', quote)
	return append(append(b, value...), quote)
}

// foundWhole returns the rule whose match covers the whole value, except for a quotation mark at
// the end of the text.
func (p *memberRules) foundWhole(text, value []byte) (rule string, ok bool) {
	for _, s := range p.scanner.Scan(text, nil) {
		end := len(text)
		if c := text[end-1]; c == '"' || c == '\'' {
			end--
		}
		if s.End >= end && s.Start <= end-len(value) {
			return ruleOf(p.scanner.Name(s.Detector)), true
		}
	}
	return "", false
}

func (p *memberRules) hasPlaceholder(text []byte) bool {
	for i := range text {
		if p.placeholderAt(text[i:]) > 0 {
			return true
		}
	}
	return false
}

// A pair is an object with separate members for a name and a value.
type pair struct {
	names [][]byte
	weak  bool // the name comes from a label, which may denote only a kind of value
}

// isPairValue reports whether a folded name denotes the value of a pair. A pair may have several
// values, such as a value and its default.
func isPairValue(folded string) bool {
	switch folded {
	case "value", "parametervalue", "headervalue", "envvalue", "content", "default", "defaultvalue", "optionvalue", "currentvalue", "stringvalue", "v", "new", "newvalue", "text", "typed":
		return true
	}
	return false
}

// pairOf interprets an object that contains a value as a pair, if possible.
func pairOf(object canon.Node) (pair, bool) {
	if object.Kind() != canon.KindObject || object.Len() < 2 || object.Len() > maxPair {
		return pair{}, false
	}

	var found pair
	var label []byte
	for member, v := range object.Members() {
		if v.Kind() != canon.KindString {
			continue
		}
		switch foldName(member.String()) {
		case "name", "key", "parameterkey", "variable", "header", "headername", "envname", "field", "parameter", "param", "option", "optionname", "k", "selector", "element", "locator", "inputname":
			found.names = append(found.names, v.Text())
		case "label", "id", "type", "placeholder", "target", "inputid", "fieldname":
			if text := v.Text(); label == nil || bytes.Contains(bytes.ToLower(text), []byte("pass")) {
				label = text
			}
		}
	}

	// If the object has no name, its label is used instead, although it is weaker evidence.
	if found.names == nil {
		found.names, found.weak = [][]byte{label}, true
	}
	for i := range found.names {
		for _, control := range []string{" field", " input", " box", " textbox"} {
			found.names[i] = bytes.TrimSuffix(found.names[i], []byte(control)) // of a form
		}
	}

	return found, true
}

// memberRule returns the rule that withholds the value on top of the stack because of its name or
// position in the enclosing object or array.
func (p *memberRules) memberRule(w *walk, around canon.Node, f frame, token string) (rule string, ok bool) {
	switch {
	case !p.members:
	case f.index < 0 && f.node.Kind() == canon.KindObject:
		if p.detectors[secretDetector] && isSecret(around, token) && f.node.Len() > 0 {
			return ruleOf(secretDetector), true
		}
	case f.node.Kind() != canon.KindString || isDigest(f.node.Text()):
	case f.index < 0:
		return p.namedRule(w, around, f, token)
	case isCollection(w.listName(2)):
		return p.collected(w.stack[len(w.stack)-2].name.Text(), f)
	case f.index%2 == 1:
		return p.secondRule(w, around, f)
	}

	return "", false
}

// namedRule returns the rule that withholds a member because of its name or the name of its
// collection, or because the member is the value of a pair.
func (p *memberRules) namedRule(w *walk, around canon.Node, f frame, token string) (rule string, ok bool) {
	if rule, ok := p.assigned(f.name.Text(), f.node.Text(), false); ok {
		return rule, true
	}
	if rule, ok := p.collected(w.stack[len(w.stack)-2].name.Text(), f); ok {
		return rule, true
	}

	if !isPairValue(foldName(token)) {
		return "", false
	}
	pair, ok := pairOf(around)
	if !ok {
		return "", false
	}

	// The result must not depend on the order of the members, so every name is tried.
	for _, name := range pair.names {
		if pair.weak {
			rule, ok = p.assigned(name, f.node.Text(), false)
		} else {
			rule, ok = p.pairRule(name, f.node, w.listName(3))
		}
		if ok {
			return rule, true
		}
	}
	return "", false
}

// secondRule returns the rule that withholds the second of two strings in an array. The first
// string may be the name of the second string, as in a list of headers.
func (p *memberRules) secondRule(w *walk, around canon.Node, f frame) (rule string, ok bool) {
	list := w.listName(2)
	switch {
	case isHeaders(list):
		return p.pairRule(f.prior.Text(), f.node, list)
	case around.Len() != 2:
		return "", false
	case isHeaders(w.listName(3)):
		return p.pairRule(f.prior.Text(), f.node, w.listName(3))
	}

	if name := foldName(f.prior.String()); strings.HasSuffix(name, "cookie") || strings.HasSuffix(name, "authorization") {
		return p.pairRule(f.prior.Text(), f.node, "headers")
	}
	return p.assigned(f.prior.Text(), f.node.Text(), false)
}

// isCollection reports whether a folded name denotes a collection of secrets, whose members and
// elements are secrets regardless of their own names.
func isCollection(folded string) bool {
	for _, end := range []string{"passwords", "passwds", "passphrases", "secrets", "tokens", "apikeys", "credentials", "creds", "basicauth", "recoverycodes", "backupcodes"} {
		if strings.HasSuffix(folded, end) {
			return true
		}
	}
	return false
}

// collected returns the rule that withholds a value because of the name of the enclosing object or
// array, as in {"secrets": {"smtp": "…"}}.
func (p *memberRules) collected(list []byte, f frame) (rule string, ok bool) {
	folded := foldName(string(list))
	if !isCollection(folded) {
		return "", false
	}
	return p.assigned(secretOf(folded), f.node.Text(), false)
}

// secretOf returns the name that is used to search the values in a collection.
func secretOf(collection string) []byte {
	switch {
	case strings.Contains(collection, "pass"), collection == "basicauth", strings.HasSuffix(collection, "codes"):
		return []byte("password")
	}
	return []byte("secret")
}

// secretDetector is the name of the detector that finds such secrets in text.
const secretDetector = "kubernetes_secret"

// pairRule returns the rule that withholds the value of a pair, which is a string, given the folded
// name of the list that contains the pair.
func (p *memberRules) pairRule(name []byte, value canon.Node, list string) (rule string, ok bool) {
	cookies := strings.HasSuffix(list, "cookies")
	if !cookies && len(value.Text()) > 0 {
		if rule, ok := p.named(string(name), isHeaders(list), value); ok {
			return rule, true
		}
	}

	// In a collection, the name of the collection is used instead of the name in the pair.
	if isCollection(list) {
		return p.assigned(secretOf(list), value.Text(), false)
	}
	return p.assigned(name, value.Text(), cookies)
}

// isSecret reports whether a member contains the data of a Kubernetes Secret.
func isSecret(object canon.Node, name string) bool {
	return (name == "data" || name == "stringData") && object.Member("kind").String() == "Secret"
}
