package conformance_test

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A patch replaces a value in responses. The field op contains a method and a path, in which "*"
// matches one segment. The field at is the JSON Pointer to the value. The field named to contains
// the JSON text of the new value, or "" to remove the value. The field from is not used.
type patch struct{ op, at, from, to string }

// patches returns lies that each change one value and, for each lie, the probe that must detect it.
func patches() []lie {
	var list []lie
	for _, of := range []struct {
		name, want, may string
		patches         []patch
	}{
		// These are members that the components of the upstream specification require, and their
		// types.
		{"a task without created_by", "task_form", "task_reads_back", []patch{{"GET /v1/tasks/*", "/created_by", "", ""}}},
		{"a task whose creator is a number", "task_form", "", []patch{{"GET /v1/tasks/*", "/created_by", "", "7"}}},
		{"a task that was made at a local time", "task_form", "", []patch{{"GET /v1/tasks/*", "/created_at", "", `"2026-04-25T19:00:00+02:00"`}}},
		{"a task in an unknown state of a list", "task_form", "", []patch{{"GET /v1/tasks", "/data/0/status", "", `"DONE"`}}},
		{"a failure without a code", "task_form", "", []patch{{"GET /v1/tasks/*", "/failure", "", `{"message":"it failed"}`}}},
		{"a session without a transcript", "session_form", "", []patch{{"GET /v1/sessions/*", "/transcript", "", ""}}},
		{"a session in no state", "session_form", "", []patch{{"GET /v1/sessions/*", "/state", "", `"open"`}}},
		{"a workspace without its default branch", "workspace_form", "", []patch{{"GET /v1/workspaces/*", "/default_branch_id", "", ""}}},
		{"a message whose part has no visibility", "message_form", "message_reads_back session_reads_back resources_stay", []patch{{"GET /v1/messages/*", "/parts/0/visibility", "", ""}}},
		{"a message of an unknown role", "message_form", "message_reads_back session_reads_back", []patch{{"GET /v1/sessions/*/messages", "/data/0/role", "", `"bot"`}}},
		{"an artifact without its visibility", "artifact_form", "artifact_reads_back", []patch{{"GET /v1/artifacts/*", "/visibility", "", ""}}},
		{"an artifact of an unknown kind", "artifact_form", "artifact_reads_back", []patch{{"GET /v1/artifacts", "/data/0/kind", "", `"thing"`}}},
		{"an outcome without a summary", "outcome_form", "", []patch{{"GET /v1/outcomes/*", "/summary", "", ""}}},
		{"an outcome of an unknown status", "outcome_form", "", []patch{{"GET /v1/outcomes", "/data/0/status", "", `"COMPLETED"`}}},
		{"an event without its time", "event_form", "", []patch{{"GET /v1/events/*", "/created_at", "", ""}}},
		{"an event whose number is a text", "event_form", "", []patch{{"GET /v1/events/*", "/sequence", "", `"1"`}}},
		{"an event of no resource", "event_form", "event_ranges", []patch{{"GET /v1/events", "/data/0/resource/id", "", ""}}},
		{"a receipt without a summary", "receipt_form", "", []patch{{"GET /v1/receipts/*", "/summary", "", ""}}},
		{"a receipt whose issuer is an object", "receipt_form", "receipt_is_of_its_task", []patch{{"GET /v1/tasks/*/receipts", "/data/0/issuer", "", `{"id":"x"}`}}},
		{"a verification whose time is none", "verification_form", "", []patch{{"POST /v1/receipts/*/verify", "/checked_at", "", `"now"`}}},
		{"an error without a type", "error_form", "", []patch{{"GET /v1/tasks/*", "/error/type", "", ""}}},
		{"a list without a page", "list_form", "canceled_task outcome_agrees", []patch{{"GET /v1/outcomes", "/page", "", ""}}},
		{"a capability that is a text", "discovery_form", "", []patch{{"GET /v1", "/capabilities/websocket", "", `"no"`}}},
		{"a card without a description", "agent_card_form", "", []patch{{"GET /v1/agent-card", "/description", "", ""}}},
		{"a card without its interfaces' URLs", "agent_card_form", "", []patch{{"GET /v1/agent-card", "/interfaces/0/url", "", ""}}},

		// These are values that were posted and are read back.
		{"changed words in messages", "message_reads_back", "resources_stay", []patch{{"GET /v1/messages/*", "/parts/1/text", "", `"other words"`}}},
		{"changed words in lists of messages", "message_reads_back", "session_reads_back resources_stay", []patch{{"GET /v1/sessions/*/messages", "/data/0/parts/1/text", "", `"other words"`}}},
		{"a part that is dropped", "message_reads_back", "session_reads_back", []patch{
			{"POST /v1/sessions/*/messages", "/parts/1", "", ""}, {"GET /v1/messages/*", "/parts/1", "", ""}, {"GET /v1/sessions/*/messages", "/data/0/parts/1", "", ""}}},
		{"a number that is rounded", "message_reads_back", "", []patch{
			{"POST /v1/sessions/*/messages", "/parts/2/value/a", "", "9007199254740992"}, {"GET /v1/messages/*", "/parts/2/value/a", "", "9007199254740992"}}},
		{"a message without its metadata", "message_reads_back", "", []patch{{"GET /v1/messages/*", "/metadata", "", "{}"}}},
		{"a session that forgets its metadata", "session_reads_back", "", []patch{{"GET /v1/sessions/*", "/metadata", "", "{}"}}},
		{"a summary that is not kept", "session_reads_back", "", []patch{{"GET /v1/sessions/*", "/summary", "", "null"}}},
		{"another input of a task", "task_reads_back", "resources_stay", []patch{{"GET /v1/tasks/*", "/input/parts/0/text", "", `"something else"`}}},
		{"a task of another session in a list", "task_reads_back", "resources_stay list_filters", []patch{{"GET /v1/sessions/*/tasks", "/data/0/session_id", "", `"session_of_nobody"`}}},
		{"another place of an artifact", "artifact_reads_back", "", []patch{{"POST /v1/artifacts", "/uri", "", `"harn://elsewhere"`}, {"GET /v1/artifacts/*", "/uri", "", `"harn://elsewhere"`}}},
		{"another digest of an artifact", "artifact_reads_back", "resources_stay", []patch{{"GET /v1/artifacts/*", "/sha256", "", `"` + strings.Repeat("0", 64) + `"`}}},
		{"another root of a workspace", "workspace_reads_back", "resources_stay", []patch{{"GET /v1/workspaces/*", "/root", "", `"harn://elsewhere"`}}},

		// These values must not change.
		{"another creator in lists", "resources_stay", "", []patch{{"GET /v1/tasks", "/data/0/created_by", "", `"somebody"`}}},
		{"another time of issue in lists", "resources_stay", "", []patch{{"GET /v1/tasks/*/receipts", "/data/0/issued_at", "", `"2001-01-01T00:00:00Z"`}}},
		{"another summary of an outcome in lists", "resources_stay", "", []patch{{"GET /v1/outcomes", "/data/0/summary", "", `"it went well"`}}},
		{"another payload of an event in lists", "resources_stay", "event_ranges", []patch{{"GET /v1/events", "/data/0/payload", "", `{"x":1}`}}},

		{"a task that ended before it began", "task_form", "canceled_task cancel_terminal_consistency resources_stay", []patch{{"GET /v1/tasks/*", "/completed_at", "", `"2001-01-01T00:00:00Z"`}}},
		{"a session that changed before it was made", "session_form", "", []patch{{"GET /v1/sessions/*", "/updated_at", "", `"2001-01-01T00:00:00Z"`}}},
		{"a receipt of another subject", "receipt_is_of_its_task", "resources_stay receipt_bytes_stay", []patch{{"GET /v1/receipts/*", "/subject/id", "", `"task_of_nobody"`}}},
		{"an envelope of another subject", "receipt_is_of_its_task", "resources_stay", []patch{{"GET /v1/receipts/*", "/wire/subject/id", "", `"task_of_nobody"`}}},
		{"an absent task is canceled", "absent_resources", "refused_clients_learn_nothing hidden_is_absent task_form", []patch{{"POST /v1/tasks/conformance_absent_*/cancel", "", "", "200"}}},
	} {
		list = append(list, lie{of.name, of.want, of.may, func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				for _, p := range of.patches {
					x.patch(p)
				}
			})
		}})
	}
	return list
}

// patch applies one replacement. A patch whose pointer refers to the entire response changes the
// status code.
func (x *exchanged) patch(p patch) {
	method, pattern, _ := strings.Cut(p.op, " ")
	if !x.is(method, pattern) {
		return
	}
	if p.at == "" {
		x.status, _ = strconv.Atoi(p.to)
		return
	}
	if p.to != "" {
		x.set(p.at, p.to)
		return
	}
	parent, name := p.at[:strings.LastIndexByte(p.at, '/')], p.at[strings.LastIndexByte(p.at, '/')+1:]
	of := valueAt(x.answer, parent)
	var left []string
	for i, value := range of.Elements() {
		if strconv.Itoa(i) != name {
			left = append(left, string(value.Raw()))
		}
	}
	if left != nil {
		x.set(parent, "["+strings.Join(left, ",")+"]")
		return
	}
	for key, value := range of.Members() {
		if key.String() != name {
			left = append(left, string(key.Raw())+":"+string(value.Raw()))
		}
	}
	if left != nil {
		x.set(parent, "{"+strings.Join(left, ",")+"}")
	}
}

// A pretense makes the harness answer a request as if another client or another protocol version
// had been used. The field op contains a method and a path, in which "*" matches one segment.
type pretense struct {
	op       string
	by       string // one of "none", "wrong", "other", "no version", "old version"
	silently bool   // the request is rejected as required, but also executed
}

// pretenses returns requests that must be rejected but are answered.
func pretenses() []lie {
	var list []lie
	for _, of := range []struct {
		name, want, may string
		pretense
	}{
		{"receipts without a key", "refused_clients_learn_nothing", "", pretense{op: "GET /v1/receipts/*", by: "none"}},
		{"receipts of a task without a key", "refused_clients_learn_nothing", "", pretense{op: "GET /v1/tasks/*/receipts", by: "none"}},
		{"artifacts without a key", "refused_clients_learn_nothing", "", pretense{op: "GET /v1/artifacts/*", by: "none"}},
		{"content without a key", "refused_clients_learn_nothing", "", pretense{op: "GET /v1/artifacts/*/content", by: "none"}},
		{"outcomes without a key", "refused_clients_learn_nothing", "", pretense{op: "GET /v1/outcomes", by: "none"}},
		{"messages with a wrong key", "refused_clients_learn_nothing", "", pretense{op: "GET /v1/messages/*", by: "wrong"}},
		{"verification without a key", "refused_clients_learn_nothing", "", pretense{op: "POST /v1/receipts/*/verify", by: "none"}},
		{"a stream of a task without a key", "refused_clients_learn_nothing", "", pretense{op: "GET /v1/tasks/*/stream", by: "none"}},
		{"cancel without a key", "refused_clients_learn_nothing", "", pretense{op: "POST /v1/tasks/*/cancel", by: "none", silently: true}},
		{"messages are added without a key", "refused_clients_learn_nothing", "", pretense{op: "POST /v1/sessions/*/messages", by: "wrong", silently: true}},

		{"cancel by another client", "hidden_is_absent", "", pretense{op: "POST /v1/tasks/*/cancel", by: "other"}},
		{"cancel by another client that is told no", "hidden_is_absent", "", pretense{op: "POST /v1/tasks/*/cancel", by: "other", silently: true}},
		{"messages by another client", "hidden_is_absent", "", pretense{op: "POST /v1/sessions/*/messages", by: "other"}},
		{"tasks by another client", "hidden_is_absent", "", pretense{op: "POST /v1/sessions/*/tasks", by: "other", silently: true}},
		{"sessions in the workspace of another client", "hidden_is_absent", "", pretense{op: "POST /v1/sessions", by: "other"}},
		{"a workspace is changed by another client", "hidden_is_absent", "", pretense{op: "PATCH /v1/workspaces/*", by: "other"}},
		{"replays by another client", "hidden_is_absent", "", pretense{op: "POST /v1/tasks/*/replay", by: "other"}},
		{"receipts of another client", "hidden_is_absent", "", pretense{op: "GET /v1/receipts/*", by: "other"}},
		{"all events of another client", "hidden_is_absent", "", pretense{op: "GET /v1/events", by: "other"}},
		{"the stream of all clients", "hidden_is_absent", "", pretense{op: "GET /v1/events/stream", by: "other"}},

		{"receipts in no version", "version_missing", "", pretense{op: "GET /v1/receipts/*", by: "no version"}},
		{"cancel in no version", "version_missing", "", pretense{op: "POST /v1/tasks/*/cancel", by: "no version"}},
		{"a session is closed in no version", "version_missing", "", pretense{op: "POST /v1/sessions/*/close", by: "no version", silently: true}},
		{"artifacts in any version", "version_unknown", "", pretense{op: "GET /v1/artifacts/*", by: "old version"}},
		{"a stream in any version", "version_unknown", "", pretense{op: "GET /v1/sessions/*/events/stream", by: "old version"}},
	} {
		list = append(list, lie{of.name, of.want, of.may, of.tell})
	}
	return list
}

// fits reports whether a request matches the pretense.
func (p *pretense) fits(o *honest, r *http.Request) bool {
	method, pattern, _ := strings.Cut(p.op, " ")
	x := &exchanged{method: r.Method, path: r.URL.Path}
	key, version := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get(protocol.VersionHeader)
	by := map[string]bool{
		"none": key == "", "wrong": key != "" && !slices.Contains(o.keys[:], key), "other": key == o.keys[1],
		"no version": version == "", "old version": version != "" && version != protocol.Version,
	}
	return x.is(method, pattern) && by[p.by]
}

func (p pretense) tell(o *honest) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.fits(o, r) {
			o.handler.ServeHTTP(w, r)
			return
		}
		if p.silently {
			o.lookInto(r, func(body []byte) { o.again(r.Method, r.URL.Path, body) })
			o.handler.ServeHTTP(w, r)
			return
		}
		r.Header.Set("Authorization", "Bearer "+o.keys[0])
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		o.handler.ServeHTTP(w, r)
	})
}

// unfiltered lists the tasks of all sessions, even if the request specifies one session.
func unfiltered(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.is("GET", "/v1/tasks") && x.status == http.StatusOK && x.header.Get("Authorization") == "Bearer "+o.keys[0] && strings.HasPrefix(x.query, "session_id=") && !strings.Contains(x.query, "limit") {
			x.answer = o.again("GET", x.path, nil).Body.Bytes()
		}
	})
}

// shared remembers the response for an Idempotency-Key across all clients.
func shared(o *honest) http.Handler {
	var first seen
	return o.lies(nil, func(x *exchanged) {
		if key := x.header.Get("Idempotency-Key"); key != "" && x.is("POST", "/v1/sessions/*/messages") {
			if before, _ := first.put(key, ""); before != "" && x.status == http.StatusNotFound {
				x.status, x.answer = http.StatusCreated, []byte(before)
			} else if x.status == http.StatusCreated {
				first.put(key, string(x.answer))
			}
		}
	})
}

// plain serves JSON with a different media type.
func plain(o *honest) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		honest := httptest.NewRecorder()
		if !(&exchanged{method: r.Method, path: r.URL.Path}).is("GET", "/v1/outcomes/*") {
			o.handler.ServeHTTP(w, r)
			return
		}
		o.handler.ServeHTTP(honest, r)
		maps.Copy(w.Header(), honest.Header())
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(honest.Code)
		w.Write(honest.Body.Bytes())
	})
}

// restated returns a different creation time whenever a task is read.
func restated(o *honest) http.Handler {
	return o.tasks(func(x *exchanged) {
		x.set("/created_at", `"`+time.Now().UTC().Format("2006-01-02T15:04:05.000Z")+`"`)
	})
}

// swapped serves the first messages in a session in a different order.
func swapped(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		first, second := string(valueAt(x.answer, "/data/0").Raw()), string(valueAt(x.answer, "/data/1").Raw())
		if x.is("GET", "/v1/sessions/*/messages") && strings.Contains(first, "the first message") {
			x.set("/data/1", first)
			x.set("/data/0", second)
		}
	})
}

// anyAnchor verifies receipts with the server's own keys, regardless of the trust anchor in the
// request.
func anyAnchor(o *honest) http.Handler { return asked(o, "trust_anchor") }

// anyTime ignores the time in the request.
func anyTime(o *honest) http.Handler { return asked(o, "at_time") }

// asked answers a verification request as if the given member were missing.
func asked(o *honest, member string) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.is("POST", "/v1/receipts/*/verify") && textAt(x.body, "/"+member) != "" {
			honest := o.again("POST", x.path, []byte("{}"))
			x.status, x.answer = honest.Code, honest.Body.Bytes()
		}
	})
}

// original gives each event in a replay a different original_event_id.
func original(of func(id string, n int) string) func(*honest) http.Handler {
	return func(o *honest) http.Handler {
		return o.events(func(event []byte) []byte {
			id := textAt(event, "/replay/original_event_id")
			if id == "" {
				return event
			}
			n, _ := strconv.Atoi(textAt(event, "/replay/replay_cursor"))
			return set(event, "/replay/original_event_id", `"`+of(id, n)+`"`)
		})
	}
}

// otherPayload changes the payloads of replayed events.
func otherPayload(o *honest) http.Handler {
	return o.events(func(event []byte) []byte {
		if textAt(event, "/replay/original_event_id") == "" {
			return event
		}
		return set(event, "/payload", `{"x":1}`)
	})
}

// ghost executes requests that refer to missing resources as if the references were absent.
func ghost(pattern string, members ...string) func(*honest) http.Handler {
	return func(o *honest) http.Handler {
		return o.lies(nil, func(x *exchanged) {
			for _, name := range members {
				if at := "/" + name; x.is("POST", pattern) && bytes.Contains(valueAt(x.body, at).Raw(), []byte("conformance_absent_")) {
					honest := o.again("POST", x.path, set(x.body, at, "null"))
					x.status, x.answer = honest.Code, honest.Body.Bytes()
				}
			}
		})
	}
}

// hidden matches the text of parts that are not public.
func hidden() *regexp.Regexp {
	return regexp.MustCompile(`hidden-(internal|receipt_only)-[-0-9a-f]{36}`)
}

// leaks returns a server that hides the parts with the given visibility, except in responses for
// one path.
func leaks(visibility, pattern string) func(*honest) http.Handler {
	scope := map[string]protocol.Scope{"internal": protocol.InternalRead, "receipt_only": protocol.ReceiptOnlyRead}[visibility]
	return func(o *honest) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if (&exchanged{method: r.Method, path: r.URL.Path}).is("GET", pattern) && r.Header.Get("Authorization") == "Bearer "+o.keys[2] {
				r.Header.Set("Authorization", "Bearer "+o.also[scope])
			}
			o.handler.ServeHTTP(w, r)
		})
	}
}

// leaksLate sends the events of a task to a client that sees only public parts after a pause, but
// completely.
func leaksLate(o *honest) http.Handler {
	leaky := leaks("receipt_only", "/v1/tasks/*/stream")(o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isStream(r.URL.Path) && r.Header.Get("Authorization") == "Bearer "+o.keys[2] {
			w = &framed{ResponseWriter: w, change: func(n int, frame []byte) []byte {
				if n == 1 {
					time.Sleep(time.Second)
				}
				return frame
			}}
		}
		leaky.ServeHTTP(w, r)
	})
}
