package record

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An event is one event while it is applied. Its reading methods keep the first
// error, so that they can be called in a row.
type event struct {
	index    int
	id, kind string
	task     string
	resource resource
	sequence int64
	at       time.Time
	root     canon.Node
	payload  canon.Node
	kept     *budget    // of the texts that are read; nil: they are not kept
	ended    *endedSpan // the span that it ends; nil when it has no id
	twice    bool       // that span had ended before, in other words
	err      *Error
}

// A resource is what a sequence of events belongs to.
type resource struct{ object, id string }

// digest stands for the resource where many are kept.
func (r resource) digest() canon.Digest {
	b := strconv.AppendInt(make([]byte, 0, 128), int64(len(r.object)), 10)
	return canon.Sum(append(append(append(b, ':'), r.object...), r.id...))
}

// readEvent reads the envelope. Members that it does not need are ignored.
func readEvent(index int, doc *canon.Document) (*event, *Error) {
	e := &event{index: index, root: doc.Root(), payload: doc.Root().Member("payload")}
	if k := e.root.Kind(); k != canon.KindObject {
		return nil, e.fail(CodeMalformed, e.root, "expected an event, a JSON object")
	}

	e.kind = e.required(e.root, "event")
	e.id = e.required(e.root, "id")
	if o := e.root.Member("object"); !absent(o) && o.String() != "event" {
		e.fail(CodeMalformed, o, `expected "event"`)
	}

	named := e.root.Member("resource")
	e.resource = resource{e.required(named, "object"), e.required(named, "id")}
	e.sequence = e.count(e.root, "sequence")
	if e.root.Member("sequence").IsZero() {
		e.fail(CodeMalformed, e.root, "the member sequence is missing")
	}

	e.at = e.time(e.root, "created_at")
	if e.at.IsZero() {
		e.fail(CodeMalformed, e.root, "the member created_at is missing")
	}
	if e.payload.Kind() != canon.KindObject {
		e.fail(CodeMalformed, e.root, "expected an object as payload")
	}

	if e.task = e.text(e.root, "task_id"); e.task == "" && e.resource.object == "task" {
		e.task = e.resource.id
	}

	// The same readers read payloads. Here what they refuse is the envelope.
	if e.err != nil {
		if e.err.Code == CodePayload {
			e.err.Code = CodeMalformed
		}
		return nil, e.err
	}

	return e, nil
}

// identity is the digest of what makes an event this one, of which the canonical form
// is known. A delivery that is marked as replayed is the same event.
func (e *event) identity(doc *canon.Document, canonical []byte) canon.Digest {
	replayed, replay := e.root.Member("replayed"), e.root.Member("replay")
	if replayed.IsZero() && replay.IsZero() {
		return canon.Sum(canonical)
	}
	return doc.Digest(replayed, replay)
}

// fail keeps the first error.
func (e *event) fail(code Code, at canon.Node, format string, args ...any) *Error {
	if e.err == nil {
		e.err = &Error{Index: e.index, ID: e.id, Kind: e.kind, Pointer: at.Pointer(), Code: code, Detail: fmt.Sprintf(format, args...)}
	}
	return e.err
}

// absent reports whether a member is missing or null, which mean the same.
func absent(n canon.Node) bool { return n.IsZero() || n.Kind() == canon.KindNull }

// text reads an optional member that is a string.
func (e *event) text(of canon.Node, name string) string {
	n := of.Member(name)
	switch {
	case absent(n):
		return ""
	case n.Kind() != canon.KindString:
		e.fail(CodePayload, n, "expected a string")
	case len(n.Text()) > MaxText:
		e.exceed("MaxText", n, len(n.Text()))
	default:
		return e.once(n.Text())
	}
	return ""
}

// once returns a text that is kept once, however often it comes.
func (e *event) once(text []byte) string {
	if e.kept == nil {
		return string(text)
	}
	return e.kept.text(text)
}

// words reads an optional text for people, and shortens it.
func (e *event) words(of canon.Node, name string) string {
	s := e.text(of, name)
	if short := cut(s); len(short) != len(s) {
		return e.once([]byte(short))
	}
	return s
}

func (e *event) required(of canon.Node, name string) string {
	s := e.text(of, name)
	if s == "" {
		e.fail(CodePayload, of, "the member %s is missing or empty", name)
	}
	return s
}

// count reads an optional integer that is not negative.
func (e *event) count(of canon.Node, name string) int64 {
	n := of.Member(name)
	if absent(n) {
		return 0
	}

	// RFC 7493 section 2.2: integers that every reader takes for the same number.
	f := n.Float()
	if n.Kind() != canon.KindNumber || f < 0 || f > MaxTokens || f != math.Trunc(f) {
		e.fail(CodePayload, n, "expected an integer from 0 to 2^53-1")
		return 0
	}
	return int64(f)
}

func (e *event) optionalCount(of canon.Node, name string) *int64 {
	if absent(of.Member(name)) {
		return nil
	}
	n := e.count(of, name)
	return &n
}

// flag reads an optional boolean.
func (e *event) flag(of canon.Node, name string) bool {
	n := of.Member(name)
	if !absent(n) && n.Kind() != canon.KindBool {
		e.fail(CodePayload, n, "expected true or false")
	}
	return n.Bool()
}

func (e *event) time(of canon.Node, name string) time.Time {
	n := of.Member(name)
	if absent(n) {
		return time.Time{}
	}

	// RFC 3339 sections 1 and 5.6: a date-time of the years 0 to 9999.
	t, err := receipt.ParseTime(n.Text())
	if y := t.UTC().Year(); n.Kind() != canon.KindString || err != nil || y < 0 || y > 9999 {
		e.fail(CodePayload, n, "expected an RFC 3339 date-time")
		return time.Time{}
	}
	return receipt.At(t).Time
}

// digest reads an optional SHA-256, with its prefix or as the protocol's
// resources write it: bare, in either case.
func (e *event) digest(of canon.Node, name string) canon.Digest {
	n := of.Member(name)
	if absent(n) {
		return canon.Digest{}
	}
	d, ok := lenientDigest(n)
	if !ok {
		e.fail(CodePayload, n, "expected a SHA-256 in hexadecimal digits")
	}
	return d
}

// optionalDigest reads a digest, or null: there is nothing. A member that is missing
// says neither.
func (e *event) optionalDigest(of canon.Node, name string) receipt.OptionalDigest {
	return receipt.OptionalDigest{Digest: e.digest(of, name), Null: of.Member(name).Kind() == canon.KindNull}
}

// replays is the replay by which an event of another task is told again, when it
// keeps the name of that.
func (e *event) replays() string {
	meta := e.root.Member("replay")
	if source := e.text(meta, "source_task_id"); source == "" || source != e.task {
		return ""
	}
	return e.text(meta, "replay_task_id")
}

// session is the session that an event is of. The payload comes before the envelope.
func (e *event) session() string {
	return cmp.Or(e.text(e.payload, "session_id"), e.text(e.root, "session_id"))
}

func lenientDigest(n canon.Node) (canon.Digest, bool) {
	hex := strings.ToLower(strings.TrimPrefix(n.String(), "sha256:"))
	d, err := canon.ParseDigest("sha256:" + hex)
	return d, err == nil
}

// content returns the digest of a JSON value, or the one that stands for it in
// the member that ends in _sha256.
func (e *event) content(of canon.Node, name string) canon.Digest {
	if n := of.Member(name); !n.IsZero() {
		return hashOf(n)
	}
	return e.digest(of, name+"_sha256")
}

// hashOf is the SHA-256 of the RFC 8785 form of a value.
func hashOf(n canon.Node) canon.Digest { return canon.Sum(n.AppendCanonical(nil)) }

// elements yields the objects of an optional list.
func (e *event) elements(of canon.Node, name string) []canon.Node {
	list := of.Member(name)
	if absent(list) {
		return nil
	}
	if list.Kind() != canon.KindArray {
		e.fail(CodePayload, list, "expected an array")
		return nil
	}

	all := make([]canon.Node, 0, min(list.Len(), MaxEntries))
	for _, n := range list.Elements() {
		if n.Kind() != canon.KindObject {
			e.fail(CodePayload, n, "expected an object")
			return nil
		}
		all = append(all, n)
	}

	return all
}

// actor reads who did something: a string, or an object with an id. The payload
// comes before the envelope.
func (e *event) actor() string { return cmp.Or(e.named(), e.actorOf(e.root)) }

// named is who the payload names.
func (e *event) named() string { return e.actorOf(e.payload) }

func (e *event) actorOf(of canon.Node) string {
	switch n := of.Member("actor"); n.Kind() {
	case canon.KindString:
		if s := e.text(of, "actor"); s != "" {
			return s
		}
	case canon.KindObject:
		if s := e.text(n, "id"); s != "" {
			return s
		}
	case canon.KindInvalid, canon.KindNull:
	default:
		e.fail(CodePayload, n, "expected a string or an object with an id")
	}
	return ""
}
