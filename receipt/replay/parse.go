package replay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
)

// ParseRequest parses a request. An empty request represents an exact replay. Every accepted
// request is valid against the JSON Schema replay-request. The error is a *[RequestError] for the
// first invalid member, in the order of member names.
func ParseRequest(data []byte) (*Request, error) {
	r := &Request{Mode: Exact}
	if len(bytes.TrimSpace(data)) == 0 {
		return r, nil
	}

	p := parser{doc: new(canon.Document)}
	switch err := p.doc.Parse(data, canon.Limits{Bytes: MaxRequest}); {
	case err != nil:
		return nil, &RequestError{"body", fmt.Sprintf("expected a JSON object of at most %d bytes, found %s", MaxRequest, whyNot(err))}
	case p.doc.Root().Kind() != canon.KindObject:
		return nil, &RequestError{"body", "expected a JSON object"}
	}

	// Outside this range, different integers have the same canonical form (RFC 7493 section 2.2).
	if at, lossy := p.doc.LossyInteger(); lossy {
		return nil, &RequestError{paramOf(at.Pointer()), "expected no integer outside of ±(2^53-1): write it as a string"}
	}

	p.request(r)
	if p.err != nil {
		return nil, p.err
	}
	return r, nil
}

// whyNot describes why a request is not valid JSON, without quoting it, because it may contain a
// secret.
func whyNot(err error) string {
	var syntax *canon.SyntaxError
	if !errors.As(err, &syntax) {
		return "none"
	}
	return fmt.Sprintf("%s at line %d, column %d", syntax.Code, syntax.Line, syntax.Column)
}

// paramOf returns the name of the request member that contains the location of a pointer. For a
// location within a member of an override, the name is override.KEY.MEMBER.
func paramOf(pointer string) string {
	at := strings.Split(pointer, "/")[1:] // a pointer begins with a slash (RFC 6901)
	for i, token := range at {
		at[i] = short(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	switch {
	case len(at) == 0:
		return "body"
	case at[0] == "override" && len(at) > 2:
		return "override." + at[1] + "." + at[2]
	}
	return at[0]
}

// A parser keeps the first error, so that its methods can be called without checking each error.
type parser struct {
	doc *canon.Document
	err *RequestError
}

func (p *parser) fail(param, format string, args ...any) {
	if p.err == nil {
		p.err = &RequestError{param, fmt.Sprintf(format, args...)}
	}
}

// absent reports whether a member is missing or null, which are equivalent.
func absent(n canon.Node) bool { return n.IsZero() || n.Kind() == canon.KindNull }

func (p *parser) request(r *Request) {
	root := p.doc.Root()
	p.known("", root, "checkpoint_event_id", "checkpoint_id", "metadata", "mode", "override", "reason")

	if n := root.Member("mode"); !n.IsZero() {
		r.Mode = Mode(p.oneOf("mode", n, string(Exact), string(WithOverrides), string(FromCheckpoint)))
	}

	r.CheckpointEventID = p.text("checkpoint_event_id", root.Member("checkpoint_event_id"))
	r.CheckpointID = p.text("checkpoint_id", root.Member("checkpoint_id"))
	r.Reason = p.text("reason", root.Member("reason"))
	if n := root.Member("metadata"); !n.IsZero() && n.Kind() != canon.KindObject {
		p.fail("metadata", "expected an object")
	}

	// Members that depend on each other are checked after all of them have been read.
	p.checkpoint(r)
	p.overrides(r, root.Member("override"))
}

// checkpoint checks that the checkpoint members are consistent with the mode.
func (p *parser) checkpoint(r *Request) {
	named := r.CheckpointEventID != "" || r.CheckpointID != ""
	switch {
	case r.Mode == FromCheckpoint && !named:
		p.fail("checkpoint_id", "expected checkpoint_id or checkpoint_event_id for the mode from_checkpoint")
	case r.Mode != FromCheckpoint && r.CheckpointEventID != "":
		p.fail("checkpoint_event_id", "allowed only with the mode from_checkpoint")
	case r.Mode != FromCheckpoint && r.CheckpointID != "":
		p.fail("checkpoint_id", "allowed only with the mode from_checkpoint")
	}
}

func (p *parser) overrides(r *Request, list canon.Node) {
	switch {
	case list.IsZero():
		return
	case list.Kind() != canon.KindObject:
		p.fail("override", "expected an object: keys, and what replaces each")
		return
	case list.Len() > maxOverrides:
		p.fail("override", "expected at most %d overrides, found %d", maxOverrides, list.Len())
		return
	case r.Mode == Exact && list.Len() > 0:
		p.fail("override", "expected none with the mode exact, which has no substitutions")
		return
	}

	for name, n := range list.Members() {
		if r.Overrides = append(r.Overrides, p.override(name.String(), n)); p.err != nil {
			return
		}
	}

	slices.SortFunc(r.Overrides, func(a, b Override) int { return cmp.Compare(a.Key, b.Key) })

	// Each delta needs its own ID, and an event can have only one override, not counting overrides
	// of secrets.
	events, ids := map[string]bool{}, map[string]bool{}
	for i := range r.Overrides {
		o := &r.Overrides[i]
		if id := event.DeltaID(o.Key); ids[id] {
			p.fail("override."+o.Key, "expected a key with its own delta_id, found another override with %s: name the dependency by event_id, under another key", quote(id))
		} else {
			ids[id] = true
		}

		if o.Reason = cmp.Or(o.Reason, r.Reason); o.EventID != "" && events[o.EventID] && !o.secret() {
			p.fail("override."+o.Key+".event_id", "expected one override of an event, found another")
		}
		events[o.EventID] = !o.secret()
	}
}

func (p *parser) override(key string, n canon.Node) Override {
	at := "override." + short(key)
	prefix, err := keyPrefix(key)
	if err != nil {
		p.fail(at, "%v", err)
		return Override{}
	}
	if n.Kind() != canon.KindObject {
		p.fail(at, "expected an object")
		return Override{}
	}

	p.known(at+".", n, "artifact_id", "event_id", "kind", "reason", "sha256", "target", "value", "visibility")
	if n.Member("kind").IsZero() {
		p.fail(at+".kind", "expected the kind of the override")
	}
	o := Override{
		Key: key, Visibility: ReceiptOnly,
		Kind:    p.oneOf(at+".kind", n.Member("kind"), kindLLM, kindMCP, kindSecret, kindTime, kindHostFact, kindToolResult, kindPayload, kindCheckpoint),
		EventID: p.text(at+".event_id", n.Member("event_id")), Target: p.text(at+".target", n.Member("target")),
		ArtifactID: p.text(at+".artifact_id", n.Member("artifact_id")), Reason: p.text(at+".reason", n.Member("reason")),
	}

	if v := n.Member("visibility"); !v.IsZero() {
		o.Visibility = p.oneOf(at+".visibility", v, "public", "internal", ReceiptOnly)
	}
	if d := n.Member("sha256"); !absent(d) {
		var err error
		if o.Stated, err = canon.ParseDigest(d.Text()); err != nil || d.Kind() != canon.KindString {
			p.fail(at+".sha256", "expected sha256: and 64 lowercase hexadecimal digits")
		} else if o.Stated.IsZero() { // a zero digest would represent an absent digest
			p.fail(at+".sha256", "expected the digest of a value, found zeros")
		}
	}

	if v := n.Member("value"); !v.IsZero() {
		o.value = v.AppendCanonical(nil)
	}

	p.fits(at, prefix, &o)
	return o
}

// fits checks that the members of an override are consistent with each other.
func (p *parser) fits(at, prefix string, o *Override) {
	if !slices.Contains(kindsOf(prefix), o.Kind) {
		p.fail(at+".kind", "expected a kind that a key of %s: can have, found %s", prefix, o.Kind)
	}
	switch {
	case o.secret():
		p.fitsSecret(at, o)
	case o.value != nil && o.ArtifactID != "":
		p.fail(at+".artifact_id", "expected a value or an artifact_id, found both")
	case o.value == nil && o.ArtifactID == "":
		p.fail(at+".value", "expected a value or an artifact_id")
	case (o.Kind == kindPayload || o.Kind == kindCheckpoint) && o.EventID == "":
		p.fail(at+".event_id", "expected the event of an override of the kind %s", o.Kind)
	case o.Kind == kindPayload && o.value != nil && o.value[0] != '{':
		p.fail(at+".value", "expected an object, as payloads are")
	}

	// The receipt contains the task's times as values, so an artifact cannot replace them.
	if o.Kind == kindTime && isTaskTime(o.Key) && p.err == nil {
		if _, ok := timeIn(o.value); !ok {
			p.fail(at+".value", "expected an RFC 3339 date-time, in the request itself")
		}
	}
}

// fitsSecret checks the members of an override of a secret, which must not reveal the secret.
func (p *parser) fitsSecret(at string, o *Override) {
	switch {
	case o.value != nil && o.ArtifactID != "":
		p.fail(at+".artifact_id", "expected a value or an artifact_id, found both")
	case !o.Stated.IsZero():
		p.fail(at+".sha256", "expected none, because a secret can be guessed from its digest")
	case o.Visibility != ReceiptOnly:
		p.fail(at+".visibility", "expected receipt_only for a secret")
	}
}

// timeIn parses a JSON string that is a date-time.
func timeIn(value []byte) (receipt.Time, bool) {
	doc, err := canon.Parse(value)
	if err != nil || doc.Root().Kind() != canon.KindString {
		return receipt.Time{}, false
	}
	t, err := receipt.ParseTime(doc.Root().String())
	return receipt.At(t), err == nil
}

// keyPrefix returns the prefix of an override key: llm, mcp, secret, time, or host. The prefix is
// followed by a colon and a name. In mcp and host keys, two names follow, separated by a colon, and
// the first name contains no colon. Names are non-empty and consist of printable characters other
// than spaces. An error describes what was expected and what was found. An error quotes only the
// prefix, because the rest may be the name of a secret.
func keyPrefix(text string) (string, error) {
	prefix, name, cut := strings.Cut(text, ":")
	switch at := strings.IndexFunc(text, unprintable); {
	case len(text) > maxKey:
		return "", fmt.Errorf("expected a key of at most %d bytes, found %d", maxKey, len(text))
	case !utf8.ValidString(text):
		return "", errors.New("expected a key of printable characters without spaces, found bytes that are not UTF-8")
	case at >= 0:
		c, _ := utf8.DecodeRuneInString(text[at:])
		return "", fmt.Errorf("expected a key of printable characters without spaces, found %U at byte %d", c, at)
	case !cut:
		return "", errors.New("expected a key with the prefix llm, mcp, secret, time, or host, found no colon")
	case !slices.Contains([]string{"llm", "mcp", "secret", "time", "host"}, prefix):
		return "", fmt.Errorf("expected a key with the prefix llm, mcp, secret, time, or host, found %s", quote(prefix))
	}

	// Keys with these prefixes contain two names.
	if prefix == "mcp" || prefix == "host" {
		var of string
		if of, name, cut = strings.Cut(name, ":"); !cut {
			return "", fmt.Errorf("expected %s:, a name, a colon, and the id of a call, found no second colon", prefix)
		}
		if of == "" {
			return "", fmt.Errorf("expected a name after the first colon of %s, found none", prefix)
		}
	}
	if name == "" {
		return "", fmt.Errorf("expected a name after the last colon of %s, found none", prefix)
	}
	return prefix, nil
}

func unprintable(c rune) bool { return c == ' ' || !unicode.IsPrint(c) }

// isTaskTime reports whether a key refers to one of the task's lifecycle times.
func isTaskTime(key string) bool {
	return key == "time:created_at" || key == "time:started_at" || key == "time:completed_at"
}

// kindsOf returns the kinds of overrides that are allowed for keys with the given prefix. For the
// prefixes llm, mcp, and host, any value can be a secret, and the payload of any event can be
// replaced.
func kindsOf(prefix string) []string {
	any := []string{kindSecret, kindPayload, kindCheckpoint}
	switch prefix {
	case "llm":
		return append(any, kindLLM)
	case "mcp":
		return append(any, kindMCP, kindToolResult)
	case "host":
		return append(any, kindHostFact, kindToolResult)
	case "time":
		return []string{kindTime}
	}
	return []string{kindSecret}
}

// known rejects unknown members, because a misspelled member would change the replay.
func (p *parser) known(at string, n canon.Node, names ...string) {
	for name := range n.Members() {
		if !slices.Contains(names, name.String()) {
			p.fail(cmp.Or(at+short(name.String()), "body"), "expected no member of the name %s", quote(name.String()))
		}
	}
}

func (p *parser) oneOf(param string, n canon.Node, words ...string) string {
	if n.Kind() != canon.KindString || !slices.Contains(words, n.String()) {
		p.fail(param, "expected one of %q", words)
	}
	return n.String()
}

// text reads an optional string, which must not be empty.
func (p *parser) text(param string, n canon.Node) string {
	if absent(n) {
		return ""
	}
	if n.Kind() != canon.KindString || n.Len() == 0 && len(n.Text()) == 0 {
		p.fail(param, "expected a non-empty string or null")
	}

	const most = 4 << 10
	if len(n.Text()) > most {
		p.fail(param, "expected at most %d bytes, found %d", most, len(n.Text()))
	}
	return n.String()
}

// short truncates a name in the param of an error.
func short(name string) string { return untrusted.Cut(name, maxKey) }
