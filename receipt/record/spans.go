package record

import (
	"cmp"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// Kinds of spans that tell of a deed.
const (
	spanModel = "llm"
	spanHTTP  = "http"
	spanFiles = "fs"
	spanUsage = "usage" // the account of the session, see costs
)

// kindOfSpan reads what a span is of, in any case of letters. One of another kind
// that names a model is a call of it, as sources have many words for one.
func kindOfSpan(e *event) string {
	kind := strings.ToLower(e.text(e.payload, "kind"))
	switch kind {
	case spanModel, spanHTTP, spanFiles, spanUsage, "agent", "tool", "task", "turn":
		return kind
	}
	if e.text(e.payload, "model") != "" {
		return spanModel
	}
	return kind
}

// Open spans began, and nothing tells their end yet. Those without ids are counted
// together.
type openSpans struct {
	ids   map[[2]string]int // by kind and id
	kinds map[string]int
}

func (s *openSpans) begin(r *run, e *event, kind string) {
	key := [2]string{kind, e.span()}
	if s.ids[key] == 0 {
		r.charge(e, e.root, partCost)
	}
	s.ids[key]++
	s.kinds[kind]++
}

func (s *openSpans) end(r *run, e *event, kind string) {
	key := [2]string{kind, e.span()}
	if s.ids[key] == 0 {
		return
	}
	s.kinds[kind]--
	if s.ids[key]--; s.ids[key] == 0 {
		delete(s.ids, key)
		r.free(partCost)
	}
}

// An ended span is what ended it, and what it cost.
type endedSpan struct {
	words canon.Digest // of the kind and the payload
	paid  *cost
}

// Ended spans are kept by the digests of their ids.
type endedSpans map[canon.Digest]*endedSpan

// end notes an end, and reports whether the same words told it before. Other words
// about one span are a second end. A span without an id is one of its own.
func (s endedSpans) end(r *run, e *event) (told bool) {
	id := e.span()
	if id == "" || !saysSpan(e) {
		return false
	}

	// An end that is delivered in the same words is the same end.
	key, words := canon.Sum([]byte(id)), canon.Sum(e.payload.AppendCanonical([]byte(e.kind)))
	before, again := s[key]
	if !again {
		before = &endedSpan{words: words}
		s[key] = before
		r.charge(e, e.root, spanCost)
	}
	e.ended, e.twice = before, again
	return again && before.words == words
}

// of reports whether one of a kind is open.
func (s *openSpans) of(kind string) bool { return s.kinds[kind] > 0 }

func spanStarted(r *run, e *event) {
	switch kind := kindOfSpan(e); {
	case kind == spanModel:
		r.spans.begin(r, e, kind)
		r.models.told++
		r.models.choose(r, e)
	case kind == spanHTTP, kind == spanFiles && changesFiles(e):
		r.spans.begin(r, e, kind)
	}
}

// span is the id of a span.
func (e *event) span() string {
	id := ""
	if e.resource.object == "span" {
		id = e.resource.id
	}
	return cmp.Or(e.text(e.root, "span_id"), e.text(e.payload, "span_id"), id)
}

func spanUpdated(r *run, e *event) {
	if kindOfSpan(e) == spanUsage {
		r.costs.report(r, e)
	}
}

func spanCompleted(r *run, e *event) { r.span(e, true) }

// spanFailed: what failed may have cost money and sent data; nothing tells what it
// wrote, and it returned nothing to replay.
func spanFailed(r *run, e *event) { r.span(e, false) }

func (r *run) span(e *event, completed bool) {
	p := e.payload
	callID, kind := e.text(p, "tool_call_id"), kindOfSpan(e)
	r.spans.end(r, e, kind)
	if kind == spanUsage { // an account is told as often as it changes
		r.costs.report(r, e)
		return
	}

	if r.endings.end(r, e) { // told again
		return
	}

	// A deed is told by the kind of its span; a cost by any span.
	switch kind {
	case spanModel:
		r.models.call(r, e, completed)
		return
	case spanHTTP:
		r.reach(e, p, e.text(p, "name"), callID, fromSpan)
	case spanFiles:
		switch {
		case !changesFiles(e):
		case completed:
			r.write(e, p, callID, fromSpan)
		default:
			r.effects.failed = true
		}
	}
	r.costs.spend(r, e, false)
}

// changesFiles reports whether a span of files may have changed one.
func changesFiles(e *event) bool {
	op := e.text(e.payload, "operation")
	return op != "read" && op != "list" && op != "stat"
}

// saysSpan reports whether a span tells anything that a receipt has.
func saysSpan(e *event) bool {
	switch kindOfSpan(e) {
	case spanModel, spanHTTP, spanFiles, spanUsage:
		return true
	}
	return !absent(e.payload.Member("cost"))
}

// saysStarted: a call of a model that began is one.
func saysStarted(e *event) bool { return kindOfSpan(e) == spanModel }

func saysUsage(e *event) bool { return kindOfSpan(e) == spanUsage && !absent(e.payload.Member("cost")) }
