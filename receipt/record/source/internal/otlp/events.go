package otlp

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// events contains the log records of an agent.
type events struct {
	s         *story.Story
	requests  []*call         // calls of models
	seen      map[string]bool // IDs of these requests
	decisions bool            // events record decisions
}

// event reads an event of an agent. The name of an event may begin with the name of the agent.
func (e *events) event(n canon.Node) {
	s, a := e.s, attributes{n.Member("attributes")}
	name := cmp.Or(a.text(s, "event.name"), s.Name(n.Member("eventName")), s.Name(n.Member("body").Member("stringValue")))
	at := nanos(cmpNode(n.Member("timeUnixNano"), n.Member("observedTimeUnixNano")))

	// An event without a time may have happened at any time.
	if s.At(at); at.IsZero() {
		timeless(e.s)
	}
	session(e.s, a)

	if a.ambiguous("event.name") {
		s.Ignored("event/None")
	}

	switch base := name[strings.LastIndexByte(name, '.')+1:]; base {
	case "tool_decision":
		e.decided(a)
	case "tool_result":
		e.result(a)
	case "api_request", "sse_event":
		e.request(a)
	default:
		if s.Note("other_events"); !harmlessEvent(name) {
			s.Ignored(unreadEvent(s, a, s.Name(n.Member("eventName"))))
		}
	}
}

// callOf returns the call to which an event refers, or nil if the event contains no call ID.
func (e *events) callOf(a attributes) *story.Call {
	s, id := e.s, a.text(e.s, "tool_use_id", "call_id")
	if id == "" {
		s.Lacks(story.EventWithoutCall)
		return nil
	}
	c := s.Call(id)
	c.Ask(a.text(s, "tool_name"), canon.Digest{})
	return c
}

// decided reads a decision about a call. If a person decided, the decision approves or rejects the
// call. If a configuration or a hook decided, the decision is a policy decision.
func (e *events) decided(a attributes) {
	s, c := e.s, e.callOf(a)
	if e.decisions = true; c == nil {
		return
	}
	source := strings.ToLower(a.word("source"))
	person := strings.HasPrefix(source, "user")

	switch source {
	case "config", "hook", "policy", "automated_reviewer", "automatedreviewer":
	default:
		// Any other source may stand for a decision by a person.
		if !person {
			s.Lacks(story.OtherDecision)
		}
	}

	// A person who did not answer in time made no decision.
	switch decision := strings.ToLower(a.word("decision")); decision {
	case "accept", "approved", "approved_for_session", "approved_execpolicy_amendment":
		if person {
			c.Approve()
		}
	case "reject", "denied", "abort", "timed_out":
		if person && decision != "timed_out" {
			c.Close(story.Rejected, canon.Digest{})
		} else {
			c.Close(story.Denied, canon.Digest{})
		}
	default:
		// A person made a decision, but its meaning is unknown.
		if person {
			s.Lacks(story.OtherDecision)
		}
	}
}

// result reads the outcome of a call.
func (e *events) result(a attributes) {
	c := e.callOf(a)
	if c == nil {
		return
	}
	outcome := story.Unreported
	if ok, told := a.flag("success"); told {
		if outcome = story.Failed; ok {
			outcome = story.Succeeded
		}
	}

	// A decision is more specific than the result that follows it.
	if c.Ended() != story.Rejected && c.Ended() != story.Denied {
		c.Close(outcome, canon.Digest{})
	}
	c.Duration = a.count("duration_ms")
}

// request reads a model call from an event. An event without tokens cannot be counted.
func (e *events) request(a attributes) {
	s := e.s
	x := &call{model: a.text(s, "model"), usage: requestOf(a), at: s.Here()}
	if !x.usage.Told() {
		return
	}

	// A repeated export contains the same event. Events that have no IDs but have the same time,
	// model, and usage are treated as the same event.
	id := cmp.Or(a.text(s, "request_id"), s.Now().String()+x.model+countsOf(x.usage))
	if e.seen[id] {
		s.Note("repeated_events")
		return
	}
	e.seen[id] = true
	e.requests = append(e.requests, x)

	if text := amount(a.get("cost_usd")); text != "" {
		s.Cost(text)
	} else if micros := a.count("cost_usd_micros"); micros != nil {
		s.Cost(strconv.FormatInt(*micros, 10) + "e-6")
	} else {
		s.Unpaid()
	}
}

// requestOf returns the usage of a call according to an event. Claude Code reports cached tokens
// separately, but Codex includes them in the input.
func requestOf(a attributes) story.Usage {
	if input := a.count("input_token_count"); input != nil {
		return story.Usage{Input: input, CacheRead: a.count("cached_token_count"), Output: a.count("output_token_count"), Reasoning: a.count("reasoning_token_count")}
	}
	return story.Apart(a.count("input_tokens"), a.count("cache_read_tokens"), a.count("cache_creation_tokens"), a.count("output_tokens", "output_token_count"))
}

// countsOf returns the token counts as a string, which distinguishes events that have the same
// time.
func countsOf(u story.Usage) (text string) {
	for _, n := range []*int64{u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning} {
		if text += "/"; n != nil {
			text += strconv.FormatInt(*n, 10)
		}
	}
	return text
}

// amount formats a dollar amount as decimal text, or returns "" if v is not an amount.
func amount(v canon.Node) string {
	text := v.Member("stringValue").String()
	for _, kind := range []string{"doubleValue", "intValue"} {
		if n := v.Member(kind); n.Kind() == canon.KindNumber {
			text = string(n.Raw())
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return ""
	}
	return story.Amount(f)
}

func cmpNode(a, b canon.Node) canon.Node {
	if n := nanos(a); n.IsZero() {
		return b
	}
	return a
}

// timeless records that a span or an event has no time, so the beginning and the end of the task
// are unknown.
func timeless(s *story.Story) {
	s.Note("without_times")
	s.Partly = true
}

// session records the session that is named in a span or an event. The session of the task is the
// first session that is named.
func session(s *story.Story, a attributes) {
	id := a.text(s, "gen_ai.conversation.id", "session.id", "conversation.id")
	switch {
	case id == "":
	case s.Session() == "":
		s.Own(id)
	default:
		s.Another(id)
	}
}
