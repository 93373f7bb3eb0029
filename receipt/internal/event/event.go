package event

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Event is an event that is being applied. The methods that read its members keep the first
// error, so that they can be called one after another.
type Event struct {
	Index    int // number of the event among those passed to the log, from 1
	ID, Kind string
	Task     string // the task that the event names; otherwise, the resource if it is a task; otherwise ""
	Resource Resource
	Sequence int64 // sequence number among the events of the same resource
	At       time.Time
	Root     canon.Node // the entire event, which is valid while it is being applied
	Payload  canon.Node
	Kept     *Budget // stores the strings that are read; if nil, strings are not stored
	Err      *Error  // the first error
}

// A Resource is an object of the protocol whose events have their own sequence numbers.
type Resource struct{ Object, ID string }

// digest returns a map key of fixed length for the resource.
func (r Resource) digest() canon.Digest {
	b := strconv.AppendInt(make([]byte, 0, 128), int64(len(r.Object)), 10)
	return canon.Sum(append(append(append(b, ':'), r.Object...), r.ID...))
}

// read reads the envelope of an event. It ignores members that are not part of the envelope.
func read(index int, doc *canon.Document) (*Event, *Error) {
	e := &Event{Index: index, Root: doc.Root(), Payload: doc.Root().Member("payload")}
	if k := e.Root.Kind(); k != canon.KindObject {
		return nil, e.Fail(CodeMalformed, e.Root, "expected an event, a JSON object")
	}

	e.Kind = e.Required(e.Root, "event")
	e.ID = e.Required(e.Root, "id")
	if o := e.Root.Member("object"); !Absent(o) && o.String() != "event" {
		e.Fail(CodeMalformed, o, `expected "event"`)
	}

	named := e.Root.Member("resource")
	e.Resource = Resource{e.Required(named, "object"), e.Required(named, "id")}
	e.Sequence = e.Count(e.Root, "sequence")
	e.At = e.Time(e.Root, "created_at")
	for _, name := range [...]string{"sequence", "created_at"} {
		if Absent(e.Root.Member(name)) {
			e.Fail(CodeMalformed, e.Root, "the member %s is missing", name)
		}
	}
	if e.At.IsZero() { // the zero time also represents a missing time
		e.Fail(CodeMalformed, e.Root.Member("created_at"), "expected a time after 0001-01-01T00:00:00Z")
	}
	if e.Payload.Kind() != canon.KindObject {
		e.Fail(CodeMalformed, e.Root, "expected an object as payload")
	}

	// An event whose resource is the task does not have to name the task again.
	if e.Task = e.Text(e.Root, "task_id"); e.Task == "" && e.Resource.Object == "task" {
		e.Task = e.Resource.ID
	}

	e.optional()

	// The methods that report these errors also read payloads. Here, an error concerns the
	// envelope, so its code changes.
	if e.Err != nil {
		if e.Err.Code == CodePayload {
			e.Err.Code = CodeMalformed
		}
		return nil, e.Err
	}

	return e, nil
}

// optional checks members that are read later, or only for some events, so that the validity of an
// event does not depend on other events.
func (e *Event) optional() {
	for name, value := range e.Root.Members() {
		switch string(name.Text()) {
		case "session_id", "workspace_id", "trace_id", "span_id":
			e.isText(value)
		case "actor":
			WantActor(e, value)
		case "replayed":
			e.isFlag(value)
		case "replay":
			e.retelling(value)
		}
	}
}

// retelling checks the members that describe the origin of a redelivered event.
func (e *Event) retelling(replay canon.Node) {
	if !Absent(replay) && replay.Kind() != canon.KindObject {
		e.Fail(CodeMalformed, replay, "expected an object")
	}
	for name, value := range replay.Members() {
		switch string(name.Text()) {
		case "source_task_id", "replay_task_id", "original_event_id", "override_key", "receipt_delta_id", "mode":
			e.isText(value)
		}
	}
}

// identity returns the digest of an event's contents, without the members that mark a redelivery.
// The argument "canonical" is the canonical form of the event.
func (e *Event) identity(doc *canon.Document, canonical []byte) canon.Digest {
	replayed, replay := e.Root.Member("replayed"), e.Root.Member("replay")
	if replayed.IsZero() && replay.IsZero() {
		return canon.Sum(canonical)
	}
	return doc.Digest(replayed, replay)
}

// Fail records an error unless there already is one, and returns the first error.
func (e *Event) Fail(code Code, at canon.Node, format string, args ...any) *Error {
	if e.Err == nil {
		e.Err = &Error{Index: e.Index, ID: e.ID, Kind: e.Kind, Pointer: at.Pointer(), Code: code, Detail: fmt.Sprintf(format, args...)}
	}
	return e.Err
}

// Exceed refuses the event because it exceeds a limit.
func (e *Event) Exceed(name string, at canon.Node, found int) *Error {
	if e.Err == nil {
		limit := exceeded(name, int64(found))
		e.Fail(CodeLimit, at, "%s", limit)
		e.Err.err = limit
	}
	return e.Err
}

// Absent reports whether a member is missing or null, which are treated as equivalent.
func Absent(n canon.Node) bool { return n.IsZero() || n.Kind() == canon.KindNull }

// Text returns an optional string member, or "".
func (e *Event) Text(of canon.Node, name string) string {
	return e.TextOf(of.Member(name))
}

// TextOf returns the value of an optional string member, or "".
func (e *Event) TextOf(n canon.Node) string {
	if Absent(n) || !e.isText(n) {
		return ""
	}
	return e.Once(n.Text())
}

func (e *Event) isText(n canon.Node) bool {
	switch {
	case Absent(n):
	case n.Kind() != canon.KindString:
		e.Fail(CodePayload, n, "expected a string")
		return false
	case len(n.Text()) > MaxText:
		e.Exceed("MaxText", n, len(n.Text()))
		return false
	}
	return true
}

// Once returns a stored copy of a string, which is the same copy for every occurrence of the
// string.
func (e *Event) Once(text []byte) string {
	if e.Kept == nil {
		return string(text)
	}
	return e.Kept.text(text)
}

// Words returns an optional string member, shortened for display.
func (e *Event) Words(of canon.Node, name string) string {
	s := e.Text(of, name)
	if short := Shorten(s); len(short) != len(s) {
		return e.Once([]byte(short))
	}
	return s
}

// Required returns a string member, which must be present and not empty.
func (e *Event) Required(of canon.Node, name string) string {
	s := e.Text(of, name)
	if s == "" {
		e.Fail(CodePayload, of, "the member %s is missing or empty", name)
	}
	return s
}

// Count returns an optional member that is a nonnegative integer, or 0.
func (e *Event) Count(of canon.Node, name string) int64 {
	n := of.Member(name)
	if !e.isCount(n) {
		return 0
	}
	return int64(n.Float())
}

func (e *Event) isCount(n canon.Node) bool {
	if Absent(n) {
		return true
	}

	// Integers in this range are exact in every JSON parser (RFC 7493 section 2.2).
	f := n.Float()
	if n.Kind() != canon.KindNumber || f < 0 || f > MaxTokens || f != math.Trunc(f) {
		e.Fail(CodePayload, n, "expected an integer from 0 to 2^53-1")
		return false
	}
	return true
}

// OptionalCount returns a member that is a nonnegative integer, or nil if the member is missing or
// null.
func (e *Event) OptionalCount(of canon.Node, name string) *int64 {
	if Absent(of.Member(name)) {
		return nil
	}
	n := e.Count(of, name)
	return &n
}

// Flag returns an optional boolean member, or false.
func (e *Event) Flag(of canon.Node, name string) bool {
	n := of.Member(name)
	e.isFlag(n)
	return n.Bool()
}

func (e *Event) isFlag(n canon.Node) {
	if !Absent(n) && n.Kind() != canon.KindBool {
		e.Fail(CodePayload, n, "expected true or false")
	}
}

// Time returns an optional member that is an RFC 3339 date-time, or the zero time.
func (e *Event) Time(of canon.Node, name string) time.Time { return e.timeOf(of.Member(name)) }

func (e *Event) timeOf(n canon.Node) time.Time {
	if Absent(n) {
		return time.Time{}
	}

	// RFC 3339 allows only date-times in the years 0 to 9999 (sections 1 and 5.6).
	t, err := receipt.ParseTime(n.Text())
	if y := t.UTC().Year(); n.Kind() != canon.KindString || err != nil || y < 0 || y > 9999 || !leaps(n.Text(), t.UTC()) {
		e.Fail(CodePayload, n, "expected an RFC 3339 date-time")
		return time.Time{}
	}
	return receipt.At(t).Time
}

// leaps reports whether a second 60, if the time has one, is the last second of a UTC day (RFC 3339
// section 5.7).
func leaps(text []byte, t time.Time) bool {
	return string(text[17:19]) != "60" || t.Hour() == 0 && t.Minute() == 0
}

// Digest returns an optional member that is a SHA-256 digest, or the zero digest. The prefix
// "sha256:" is optional, and uppercase digits are allowed, as in the protocol's resources.
func (e *Event) Digest(of canon.Node, name string) canon.Digest { return e.digestOf(of.Member(name)) }

func (e *Event) digestOf(n canon.Node) canon.Digest {
	if Absent(n) {
		return canon.Digest{}
	}
	d, ok := ParseDigest(n)
	if !ok && !Abbreviated(n) {
		e.Fail(CodePayload, n, "expected a SHA-256 in hexadecimal digits")
	}
	return d
}

// Abbreviated reports whether a digest has been shortened for display, as in "3a7b…". The full
// digest is then unknown, so the value is treated as unreported.
func Abbreviated(n canon.Node) bool {
	head, mark, tail := ends(n.String())
	return n.Kind() == canon.KindString && isHex(head, 1, 63) && isHex(tail, 0, 62) && mark >= 1 && mark <= 3
}

func isHex(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && strings.Trim(s, "0123456789abcdef") == ""
}

// Abbreviates reports whether short can be an abbreviation of the digest d.
func Abbreviates(short string, d canon.Digest) bool {
	head, _, tail := ends(short)
	hex := strings.TrimPrefix(d.String(), "sha256:")
	return !d.IsZero() && strings.HasPrefix(hex, head) && strings.HasSuffix(hex, tail)
}

// ends returns the beginning and end of an abbreviated digest, in lowercase, and the number of
// characters in the ellipsis between them. A valid ellipsis has one to three characters.
func ends(short string) (head string, mark int, tail string) {
	const marks = ".…"
	short = strings.ToLower(strings.TrimPrefix(short, "sha256:"))
	i := strings.IndexAny(short, marks)
	if i < 0 {
		return short, 0, ""
	}
	tail = strings.TrimLeft(short[i:], marks)
	return short[:i], utf8.RuneCountInString(short[i : len(short)-len(tail)]), tail
}

// OptionalDigest returns a digest, or null if the member states that no content exists. If the
// member is missing, the result is neither a digest nor null.
func (e *Event) OptionalDigest(of canon.Node, name string) receipt.OptionalDigest {
	return receipt.OptionalDigest{Digest: e.Digest(of, name), Null: of.Member(name).Kind() == canon.KindNull}
}

// replays returns the ID of the replay task if the event names the source of the replay as its
// task, and "" otherwise.
func (e *Event) replays() string {
	meta := e.Root.Member("replay")
	if source := e.Text(meta, "source_task_id"); source == "" || source != e.Task {
		return ""
	}
	return e.Text(meta, "replay_task_id")
}

// Session returns the session that an event names. A session in the payload takes precedence over a
// session in the envelope.
func (e *Event) Session() string {
	return cmp.Or(e.Text(e.Payload, "session_id"), e.Text(e.Root, "session_id"))
}

// ParseDigest parses a SHA-256 digest with an optional prefix and digits in either case.
func ParseDigest(n canon.Node) (canon.Digest, bool) {
	hex := strings.ToLower(strings.TrimPrefix(n.String(), "sha256:"))
	d, err := canon.ParseDigest("sha256:" + hex)
	return d, err == nil
}

// Content returns the digest of a member's value or, if the member is missing, the digest stated in
// the member with the suffix _sha256. Null counts as a value here.
func (e *Event) Content(of canon.Node, name string) canon.Digest {
	if n := of.Member(name); !n.IsZero() {
		return HashOf(n)
	}
	return e.Digest(of, name+"_sha256")
}

// HashOf returns the SHA-256 of a value's canonical form (RFC 8785).
func HashOf(n canon.Node) canon.Digest { return canon.Sum(n.AppendCanonical(nil)) }

// Elements returns the elements of an optional list, which must be objects.
func (e *Event) Elements(of canon.Node, name string) []canon.Node {
	list := of.Member(name)
	if Absent(list) {
		return nil
	}
	if list.Kind() != canon.KindArray {
		e.Fail(CodePayload, list, "expected an array")
		return nil
	}

	// The capacity is limited, because the list in the log may be very long.
	all := make([]canon.Node, 0, min(list.Len(), MaxEntries))
	for _, n := range list.Elements() {
		if n.Kind() != canon.KindObject {
			e.Fail(CodePayload, n, "expected an object")
			return nil
		}
		all = append(all, n)
	}

	return all
}

// Actor returns the actor of an event, which is either a string or the id of an object. An actor in
// the payload takes precedence over an actor in the envelope.
func (e *Event) Actor() string { return cmp.Or(e.Named(), e.actorOf(e.Root)) }

// Named returns the actor in the payload.
func (e *Event) Named() string { return e.actorOf(e.Payload) }

func (e *Event) actorOf(of canon.Node) string {
	if n := of.Member("actor"); n.Kind() == canon.KindObject {
		return e.Text(n, "id")
	}
	return e.Text(of, "actor")
}
