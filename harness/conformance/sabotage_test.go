package conformance_test

import (
	"bytes"
	"crypto/rand"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/harness/conformance"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A lie is a single deviation from the protocol, with the probes that detect it. The first probe is
// the one that must detect the lie, and only the listed probes may fail. The field named may lists
// probes that detect the lie only in some runs, because a task may be too fast.
type lie struct {
	name string
	want string
	may  string
	tell func(*honest) http.Handler
}

// replayed lists the probes that compare the receipt for a replay with the log of its source.
const replayed = " replay_exact replay_overrides replay_checkpoint"

// streamed lists the probes that read event streams.
const streamed = " internal_parts receipt_only_parts stream_resumes stream_goes_on secrets_are_withheld session_sse_event_shape task_sse_event_shape stale_places"

func lies() []lie {
	return slices.Concat(patches(), pretenses(), []lie{
		{"a wrong hash", "receipt_verifies server_verdict_agrees canceled_task_has_receipt receipts_are_one_chain" + replayed, "", wrongHash},
		{"a number of a receipt is another", "receipt_verifies server_verdict_agrees canceled_task_has_receipt" + replayed, "", otherNumber},
		{"a receipt is written anew", "receipt_bytes_stay", "", writtenAnew},
		{"signed by nobody who is trusted", "receipt_verifies server_verdict_agrees canceled_task_has_receipt" + replayed, "", signedByNobody},
		{"true is said of a copy that was changed", "tampered_copy_is_refuted", "", trueOfChanged},
		{"false is said of a good receipt", "server_verdict_agrees", "", falseOfGood},
		{"a receipt of another task", "receipt_is_of_its_task receipt_is_referenced receipt_covers_its_events tampered_copy_is_refuted receipts_are_one_chain canceled_task_has_receipt" + replayed, "replays_are_equal resources_stay", otherTask},
		{"no receipt of a canceled task", "canceled_task_has_receipt", "task_receipts receipt_verification", canceledWithout},
		{"a chain that forks", "receipts_are_one_chain" + replayed, "", forked},
		{"an archive of another receipt", "archive_is_the_receipt", "", otherArchive},
		{"an event that refers to no receipt", "receipt_is_referenced", "", noReference},
		{"a secret in an event", "secrets_are_withheld", "", secretInEvent},
		{"a secret in an event, in escapes", "secrets_are_withheld", "", escapedSecret},

		{"a lost event", "event_sequences event_ranges stream_is_the_log stream_resumes receipt_covers_its_events" + replayed, "replay_events_are_marked", lostEvent},
		{"a gap in the sequences", "event_sequences receipt_covers_its_events" + replayed, "", gap},
		{"events that differ each time", "event_range_is_byte_deterministic event_ranges resources_stay stream_is_the_log receipt_covers_its_events" + replayed, "", restless},
		{"a stream that resumes one late", "stream_resumes stream_goes_on", "", late},
		{"a stream that resumes one early", "stream_resumes stream_goes_on", "", early},
		{"a stream that tells an event twice", "stream_is_the_log stream_goes_on", "", stammer},
		{"a stream that resumes one early, and a list that loses all", "stream_resumes stream_goes_on", "", losesAll},
		{"a stream with CR LF", "stream_is_the_log" + streamed, "", carriage},
		{"a stale place is not told", "stale_places", "", staleIsEmpty},
		{"a cursor that skips", "list_pages", "", skips},
		{"a cursor that repeats", "list_pages", "", repeats},
		{"a list without an end", "list_pages", "", endless},

		{"a task twice on retry", "task_once", "", taskTwice},
		{"a message twice on retry", "message_once", "", messageTwice},
		{"an id of its own for each retry", "same_key_same_body same_key_different_body task_once message_once replay_once", "", forgetful},
		{"another body by the same key", "same_key_different_body task_once message_once replay_once", "", noConflict},
		{"an ended task is moved", "ended_task_stays replay_leaves_its_source", "cancel_terminal_consistency", moved},
		{"a canceled task goes on", "canceled_task canceled_task_has_receipt", "task_state_machine cancel_terminal_consistency", goesOn},
		{"completed and canceled", "canceled_task", "cancel_terminal_consistency resources_stay", completedToo},
		{"an outcome that contradicts", "outcome_agrees", "resources_stay", contradicts},
		{"a digest with a prefix", "artifact_digests artifact_form artifact_reads_back", "resources_stay", prefixed},

		{"no version is needed", "version_missing", "", noVersion},
		{"any version is spoken", "version_unknown unsupported_protocol_version_rejected", "", anyVersion},
		{"a refusal that tells what exists", "refused_clients_learn_nothing", "", refusalTells},
		{"an error with the key", "key_is_not_told", "", echo},
		{"the events of others are told", "hidden_is_absent", "", ofOthers("/v1/events/*")},
		{"the messages of others are told", "hidden_is_absent", "", ofOthers("/v1/sessions/*/messages")},
		{"the results of others are told", "hidden_is_absent", "", ofOthers("/v1/artifacts/*/content")},
		{"hidden is not absent", "hidden_is_absent", "", forbidden},
		{"an error without its form", "absent_resources", "error_form", formless},

		{"a replay that refreshes a value", "replay_exact" + replayed, "", refreshes},
		{"a replay without its delta", "replay_overrides", "", noDelta},
		{"replays that differ", "replays_are_equal" + replayed, "", differ},
		{"a replay that did something", "replay_exact" + replayed, "", deeds},
		{"events that are told again unmarked", "replay_events_are_marked", "", unmarked},
		{"an exact replay with overrides", "replay_refuses", "", exactly},
		{"what is missing has no name", "replay_names_what_is_missing", "", nameless},

		{"created_at that changes", "resources_stay", "task_form", restated},
		{"first messages in another order", "session_reads_back", "", swapped},
		{"valid by a trust anchor that nobody has", "unknown_trust_anchor", "", anyAnchor},
		{"valid at any time", "verification_time", "", anyTime},
		{"another original_event_id", "replay_events_are_marked", "", original(func(string, int) string { return "event_of_nobody" })},
		{"the original_event_id of another event", "replay_events_are_marked", "", original(func(id string, _ int) string { return id[:len(id)-1] + "1" })},
		{"another payload is told again", "replay_events_are_marked", "resources_stay", otherPayload},
		{"internal parts of messages are public", "internal_parts", "resources_stay", leaks("internal", "/v1/messages/*")},
		{"internal parts of tasks are public", "internal_parts", "resources_stay", leaks("internal", "/v1/tasks/*")},
		{"parts for the receipt only are in streams", "receipt_only_parts", "resources_stay", leaks("receipt_only", "/v1/tasks/*/stream")},
		{"parts for the receipt only are in slow streams", "receipt_only_parts", "resources_stay", leaksLate},
		{"parts for the receipt only are in events", "receipt_only_parts", "resources_stay", leaks("receipt_only", "/v1/sessions/*/events")},
		{"tasks of other sessions in a list", "list_filters", "", unfiltered},
		{"answers to the keys of others", "hidden_is_absent", "", shared},
		{"an outcome as HTML", "outcome_form", "error_form", plain},
		{"a task of a parent that does not exist", "unknown_ids", "", ghost("/v1/sessions/*/tasks", "parent_task_id")},
		{"a task of a persona that does not exist", "unknown_ids", "", ghost("/v1/sessions/*/tasks", "persona_id")},
		{"a task of a branch that does not exist", "unknown_ids", "", ghost("/v1/sessions/*/tasks", "branch_id")},
		{"a session with memories that do not exist", "unknown_ids", "", ghost("/v1/sessions", "memory_ids")},
		{"an artifact of a task that does not exist", "unknown_ids", "", ghost("/v1/artifacts", "task_id", "session_id")},
	})
}

// TestUnstored verifies that the error for an impossible exact replay must identify the response
// that was not stored.
func TestUnstored(t *testing.T) {
	o := newHonest(t)
	for details, want := range map[string]conformance.Status{
		`{"first_unavailable":{"object":"host_dependency","id":"host:clock.now:call_1"}}`: conformance.Passed,
		`{"first_unavailable":{"object":"something","id":"host:clock.now:call_1"}}`:       conformance.Failed,
		`{}`: conformance.Failed,
	} {
		var s seen
		server := httptest.NewServer(o.lies(nil, func(x *exchanged) {
			if x.is("POST", "/v1/sessions/*/tasks") && strings.Contains(string(x.body), "/unstored") {
				s.put("/v1/tasks/"+textAt(x.answer, "/id")+"/replay", "unstored")
			}
			if gone, _ := s.put(x.path, ""); gone != "" && textAt(x.body, "/mode") == "exact" {
				x.status, x.answer = http.StatusConflict, []byte(`{"error":{"code":"conflict","message":"an answer is not kept","type":"conflict_error","details":`+details+`}}`)
			}
		}))
		defer server.Close()
		report, err := conformance.Run(t.Context(), conformance.Target{URL: server.URL, Key: o.keys[0], Script: conformance.Script{Unstored: "/unstored"}},
			conformance.Options{Now: time.Now, Random: rand.Reader, Categories: []string{"level-replay"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range report.Categories[0].Tests {
			if test.Name == "replay_names_what_is_missing" && test.Status != want {
				t.Errorf("%s: %+v, want %s", details, test, want)
			}
		}
	}
}

// atOnce is the number of liars that are checked at the same time. Most of the time is spent
// waiting.
const atOnce = 8

// TestSabotage verifies that the responsible probe detects each lie, and that no unexpected probe
// fails.
func TestSabotage(t *testing.T) {
	list := lies()
	if len(list) < 120 {
		t.Fatalf("only %d lies", len(list))
	}
	if _, name, some := strings.Cut(flag.Lookup("test.run").Value.String(), "/"); some { // only the lies selected by -run
		named := regexp.MustCompile(name)
		list = slices.DeleteFunc(list, func(l lie) bool { return !named.MatchString(strings.ReplaceAll(l.name, " ", "_")) })
	} else if !testsize.Full() {
		tried := map[string]bool{}
		list = slices.DeleteFunc(list, func(l lie) bool { // one lie for each probe, and a few others
			probe, _, _ := strings.Cut(l.want, " ")
			skip := tried[probe] && len(l.name)%8 > 0
			tried[probe] = true
			return skip
		})
	}
	type told struct {
		report *conformance.Report
		err    error
	}
	answers, places := make([]told, len(list)), make(chan struct{}, atOnce)
	var group sync.WaitGroup
	for i, l := range list {
		o := newHonest(t)
		places <- struct{}{}
		group.Go(func() {
			answers[i].report, answers[i].err = o.run(t.Context(), l.tell(o), categoriesOf(l.want)...)
			<-places
		})
	}
	group.Wait()
	for i, l := range list {
		t.Run(l.name, func(t *testing.T) {
			if answers[i].err != nil {
				t.Fatal(answers[i].err)
			}
			l.found(t, answers[i].report)
		})
	}
}

// found compares the probes that failed with the expected ones.
func (l *lie) found(t *testing.T, report *conformance.Report) {
	want, may := strings.Fields(l.want), strings.Fields(l.may)
	asked, found := map[string]bool{}, []string{}
	for _, c := range report.Categories {
		for _, test := range c.Tests {
			asked[test.Name] = true
			if test.Status == conformance.Failed {
				found = append(found, test.Name)
				t.Logf("%s: %s", test.Name, test.Error)
			}
		}
	}
	if !asked[want[0]] {
		t.Errorf("there is no probe %s, or it was not asked", want[0])
	}
	for _, name := range want {
		if asked[name] && !slices.Contains(found, name) {
			t.Errorf("%s did not find it", name)
		}
	}
	for _, name := range found {
		if !slices.Contains(want, name) && !slices.Contains(may, name) {
			t.Errorf("%s found it, too", name)
		}
	}
}

// categoriesOf returns the category of the probe that must detect a lie. With CI=all, it returns
// nil, which means all categories.
func categoriesOf(want string) []string {
	first, _, _ := strings.Cut(want, " ")
	for _, p := range conformance.Probes() {
		switch {
		case p.Name != first:
		case testsize.All():
			return nil
		case p.Suite == conformance.Upstream:
			return []string{"core", p.Category} // these probes use capabilities that are read in the category "core"
		default:
			return []string{p.Category}
		}
	}
	return []string{first} // no probe has this name
}

func wrongHash(o *honest) http.Handler {
	return o.receipts(func(text []byte) []byte {
		return set(text, "/chain/receipt_hash", `"`+canon.Sum(text[:len(text)/2]).String()+`"`)
	})
}

func otherNumber(o *honest) http.Handler {
	return o.receipts(func(text []byte) []byte { return set(text, "/autonomy_budget/consumed/wall_time_ms", "86400000") })
}

// writtenAnew writes the number 0 as 0.0, which preserves the content of the receipt but not the
// sealed bytes.
func writtenAnew(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.is("GET", "/v1/receipts/*") && strings.HasPrefix(x.media, "application/json") {
			x.set("/wire/payload/cost/total", "0.0")
		}
	})
}

func signedByNobody(o *honest) http.Handler {
	key, err := keys.Generate(rand.Reader, keys.Ed25519, "nobody")
	if err != nil {
		panic(err)
	}
	return o.receipts(func(text []byte) []byte { return o.reseal(key, text) })
}

func trueOfChanged(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.is("POST", "/v1/verify") {
			x.set("/verdict", `"verified"`)
		}
	})
}

func falseOfGood(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.is("POST", "/v1/receipts/*/verify") {
			x.set("/valid", "false")
		}
	})
}

// otherTask serves the receipt for one task in place of the receipts for all other tasks.
func otherTask(o *honest) http.Handler {
	id := o.receiptOfATask()
	return o.tasks(func(x *exchanged) {
		if textAt(x.answer, "/receipt_id") != "" {
			x.set("/receipt_id", `"`+id+`"`)
		}
	})
}

func canceledWithout(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if (x.is("GET", "/v1/tasks/*") || x.is("POST", "/v1/tasks/*/cancel")) && textAt(x.answer, "/status") == "CANCELED" {
			x.set("/receipt_id", "null")
		}
		if x.is("GET", "/v1/tasks/*/receipts") && textAt(x.answer, "/data/0/wire/payload/lifecycle/final_state") == "CANCELED" {
			x.set("/data", "[]")
		}
	})
}

// forked turns each receipt into the first receipt of its chain.
func forked(o *honest) http.Handler {
	return o.receipts(func(text []byte) []byte {
		return o.reseal(o.private, set(text, "/chain/previous_receipt_hash", "null"))
	})
}

func otherArchive(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.is("GET", "/v1/receipts/*") && strings.Contains(x.media, "cbor") {
			x.answer = bytes.Replace(x.answer, []byte("SUCCEEDED"), []byte("SUCCEEDEF"), 1)
		}
	})
}

func noReference(o *honest) http.Handler {
	return o.events(func(event []byte) []byte {
		if textAt(event, "/event") != "receipt.issued" {
			return event
		}
		return set(event, "/receipt_id", "null")
	})
}

// secretInEvent restores a withheld secret.
func secretInEvent(o *honest) http.Handler {
	return o.unwithheld(func(secret string) string { return secret })
}

// escapedSecret writes the secret with escapes, which every client decodes.
func escapedSecret(o *honest) http.Handler {
	return o.unwithheld(func(secret string) string { return strings.Replace(secret, "ghp_", `\u0067\u0068p_`, 1) })
}

func (o *honest) unwithheld(as func(secret string) string) http.Handler {
	var s seen
	withheld := regexp.MustCompile(`\\u003credacted:github_token\\u003e`)
	told := regexp.MustCompile(`ghp_\w{36}`)
	changed := o.events(func(event []byte) []byte {
		secret, _ := s.put("secret", "")
		return withheld.ReplaceAllLiteral(event, []byte(as(secret)))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.lookInto(r, func(body []byte) { s.put("secret", string(told.Find(body))) })
		changed.ServeHTTP(w, r)
	})
}

func lostEvent(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.status == http.StatusOK && x.is("GET", "/v1/tasks/*/events") && valueAt(x.answer, "/data").Len() > 6 {
			x.drop(4)
		}
	})
}

func gap(o *honest) http.Handler {
	return o.events(func(event []byte) []byte {
		n, err := strconv.Atoi(string(valueAt(event, "/sequence").Raw()))
		if err != nil || n < 4 || textAt(event, "/resource/object") != "task" {
			return event
		}
		return set(event, "/sequence", strconv.Itoa(n+1))
	})
}

func restless(o *honest) http.Handler {
	var n atomic.Int64
	return o.lies(nil, func(x *exchanged) {
		if x.status == http.StatusOK && x.is("GET", "/v1/tasks/*/events") {
			x.set("/data/0/metadata", `{"read":`+strconv.FormatInt(n.Add(1), 10)+`}`)
		}
	})
}

func late(o *honest) http.Handler {
	return o.frames(func(_, behind string, n int, frame []byte) []byte {
		if behind != "" && n == 1 && !bytes.Contains(frame, []byte("event: error")) {
			return nil
		}
		return frame
	})
}

// early starts a stream with an event that the client already has.
func early(o *honest) http.Handler {
	return o.lies(func(r *http.Request, _ []byte) {
		last := r.Header.Get("Last-Event-ID")
		if !isStream(r.URL.Path) || last == "" {
			return
		}
		list := strings.TrimSuffix(strings.TrimSuffix(r.URL.Path, "/stream"), "/events") + "/events?limit=200"
		before := ""
		for _, e := range valueAt(o.again("GET", list, nil).Body.Bytes(), "/data").Elements() {
			if e.Member("id").String() == last {
				r.Header.Set("Last-Event-ID", before)
			}
			before = e.Member("id").String()
		}
	}, nil)
}

func stammer(o *honest) http.Handler {
	return o.frames(func(_, behind string, n int, frame []byte) []byte {
		if behind == "" && n == 2 && bytes.HasPrefix(frame, []byte("id: ")) {
			return append(frame, frame...)
		}
		return frame
	})
}

// losesAll resumes one event early, and then sends an empty list of the events of the session once.
func losesAll(o *honest) http.Handler {
	var read seen
	streams := early(o)
	lists := o.lies(nil, func(x *exchanged) {
		if before, _ := read.put(x.path, "list"); before == "stream" && x.is("GET", "/v1/sessions/*/events") {
			x.set("/data", "[]")
			x.set("/page", `{"has_more":false,"next_cursor":null}`)
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, of := strings.CutSuffix(r.URL.Path, "/events/stream")
		if !of || r.Header.Get("Last-Event-ID") == "" {
			lists.ServeHTTP(w, r)
			return
		}
		read.put(at+"/events", "stream")
		streams.ServeHTTP(w, r)
	})
}

func carriage(o *honest) http.Handler {
	return o.frames(func(_, _ string, _ int, frame []byte) []byte {
		if !bytes.HasPrefix(frame, []byte("id: ")) && !bytes.HasPrefix(frame, []byte("event: ")) {
			return frame
		}
		return bytes.ReplaceAll(frame, []byte("\n"), []byte("\r\n"))
	})
}

func staleIsEmpty(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.status == http.StatusGone && strings.HasSuffix(x.path, "/events") {
			x.status, x.answer = http.StatusOK, []byte(`{"object":"list","data":[],"page":{"has_more":false,"next_cursor":null}}`)
		}
	})
}

func skips(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.status == http.StatusOK && strings.Contains(x.query, "cursor=") {
			x.drop(0)
		}
	})
}

// repeats returns the cursor after the first item on a page, so that the next page overlaps with
// the current one.
func repeats(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		query, err := url.ParseQuery(x.query)
		if err != nil || query.Get("limit") != "2" || textAt(x.answer, "/page/next_cursor") == "" {
			return
		}
		query.Set("limit", "1")
		one := o.again("GET", x.path+"?"+query.Encode(), nil).Body.Bytes()
		x.set("/page/next_cursor", `"`+textAt(one, "/page/next_cursor")+`"`)
	})
}

func endless(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.status == http.StatusOK && x.path == "/v1/tasks" && strings.Contains(x.query, "session_id=") {
			x.set("/page", `{"has_more":true,"next_cursor":"`+strings.Repeat("A", 12)+`"}`)
		}
		if strings.Contains(x.query, "cursor=AAAAAAAAAAAA") {
			x.status, x.answer = http.StatusOK, o.again("GET", x.path+"?"+strings.ReplaceAll(x.query, "&cursor=AAAAAAAAAAAA", ""), nil).Body.Bytes()
			x.set("/page", `{"has_more":true,"next_cursor":"AAAAAAAAAAAA"}`)
		}
	})
}

// twice repeats a request without its key when the request is retried.
func twice(o *honest, pattern string) http.Handler {
	var s seen
	return o.lies(nil, func(x *exchanged) {
		key := x.header.Get("Idempotency-Key")
		if key == "" || !x.is("POST", pattern) {
			return
		}
		if _, again := s.put(x.path+" "+key, "x"); again && x.status < 300 {
			o.again("POST", x.path, x.body)
		}
	})
}

func taskTwice(o *honest) http.Handler    { return twice(o, "/v1/sessions/*/tasks") }
func messageTwice(o *honest) http.Handler { return twice(o, "/v1/sessions/*/messages") }

func forgetful(o *honest) http.Handler {
	return o.lies(func(r *http.Request, _ []byte) { r.Header.Del("Idempotency-Key") }, nil)
}

func noConflict(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.status == http.StatusConflict && textAt(x.answer, "/error/code") == string(protocol.CodeKeyReused) {
			honest := o.again(x.method, x.path, x.body)
			x.status, x.answer = honest.Code, honest.Body.Bytes()
		}
	})
}

// moved reports a completed task as canceled after a cancel request.
func moved(o *honest) http.Handler {
	var s seen
	return o.lies(nil, func(x *exchanged) {
		if x.is("POST", "/v1/tasks/*/cancel") && x.status == http.StatusConflict {
			s.put(strings.TrimSuffix(x.path, "/cancel"), "moved")
		}
		if before, _ := s.put(x.path, ""); x.is("GET", "/v1/tasks/*") && before == "moved" {
			x.set("/status", `"CANCELED"`)
		}
	})
}

func goesOn(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.is("GET", "/v1/tasks/*") && textAt(x.answer, "/status") == "CANCELED" {
			x.set("/status", `"WORKING"`)
		}
	})
}

func completedToo(o *honest) http.Handler {
	return o.tasks(func(x *exchanged) {
		if textAt(x.answer, "/status") == "CANCELED" {
			x.set("/completed_at", string(valueAt(x.answer, "/canceled_at").Raw()))
		}
	})
}

func contradicts(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.is("GET", "/v1/outcomes/*") && textAt(x.answer, "/status") == "SUCCEEDED" {
			x.set("/status", `"FAILED"`)
		}
	})
}

func prefixed(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		for at, n := range map[string]int{"/sha256": 1, "/data/0/sha256": 1} {
			if digest := textAt(x.answer, at); strings.HasPrefix(x.path, "/v1/artifacts") && n == 1 && digest != "" {
				x.set(at, `"sha256:`+digest+`"`)
			}
		}
	})
}

func noVersion(o *honest) http.Handler {
	return o.lies(func(r *http.Request, _ []byte) {
		if r.Header.Get(protocol.VersionHeader) == "" {
			r.Header.Set(protocol.VersionHeader, protocol.Version)
		}
	}, nil)
}

func anyVersion(o *honest) http.Handler {
	return o.lies(func(r *http.Request, _ []byte) {
		if r.Header.Get(protocol.VersionHeader) != "" {
			r.Header.Set(protocol.VersionHeader, protocol.Version)
		}
	}, nil)
}

func refusalTells(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.status == http.StatusUnauthorized && o.again(x.method, x.path, nil).Code == http.StatusOK && x.is("GET", "/v1/tasks/*") {
			x.set("/error/message", `"this task is not yours"`)
		}
	})
}

func echo(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.status == http.StatusNotFound {
			x.set("/error/message", `"there is nothing for `+strings.TrimPrefix(x.header.Get("Authorization"), "Bearer ")+`"`)
		}
	})
}

func forbidden(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		other := x.header.Get("Authorization") == "Bearer "+o.keys[1]
		if other && x.status == http.StatusNotFound && x.is("GET", "/v1/tasks/*") && o.again("GET", x.path, nil).Code == http.StatusOK {
			x.status = http.StatusForbidden
			x.set("/error/code", `"permission_denied"`)
		}
	})
}

// ofOthers serves the second client data that only the first client may see, at one path.
func ofOthers(pattern string) func(*honest) http.Handler {
	return func(o *honest) http.Handler {
		return o.lies(nil, func(x *exchanged) {
			if other := x.header.Get("Authorization") == "Bearer "+o.keys[1]; other && x.is("GET", pattern) {
				told := o.again("GET", x.path, nil)
				x.status, x.answer = told.Code, told.Body.Bytes()
			}
		})
	}
}

func formless(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.status == http.StatusNotFound && x.is("GET", "/v1/messages/*") {
			x.answer = []byte("404 page not found\n")
		}
	})
}

// refreshes changes the last response of a model in each replay.
func refreshes(o *honest) http.Handler {
	return o.replays(func(text []byte) []byte {
		for i, m := range valueAt(text, "/replay_input/materials").Elements() {
			if m.Member("id").String() == "llm:main:2" {
				return set(text, "/replay_input/materials/"+strconv.Itoa(i)+"/sha256", `"`+canon.Sum([]byte("refreshed")).String()+`"`)
			}
		}
		return text
	})
}

func noDelta(o *honest) http.Handler {
	return o.replays(func(text []byte) []byte { return set(text, "/deltas", "[]") })
}

// differ starts every second replay with a different tier.
func differ(o *honest) http.Handler {
	var s seen
	var n atomic.Int64
	return o.replays(func(text []byte) []byte {
		tier, known := s.put(textAt(text, "/receipt_id"), "")
		if !known {
			tier = []string{"act_auto", "suggest"}[n.Add(1)%2]
			s.put(textAt(text, "/receipt_id"), tier)
		}
		return set(text, "/trust/start_tier", `"`+tier+`"`)
	})
}

func deeds(o *honest) http.Handler {
	return o.replays(func(text []byte) []byte {
		return set(text, "/side_effects/fs_writes", `[{"path":"notes/x.txt","operation":"create","after_sha256":"`+canon.Sum(nil).String()+`"}]`)
	})
}

func unmarked(o *honest) http.Handler {
	return o.events(func(event []byte) []byte { return set(event, "/replayed", "false") })
}

// exactly returns a server that applies overrides even in an exact replay.
func exactly(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.is("POST", "/v1/tasks/*/replay") && x.status == http.StatusBadRequest && textAt(x.body, "/mode") == "exact" {
			honest := o.again("POST", x.path, set(x.body, "/mode", `"with_overrides"`))
			x.status, x.answer = honest.Code, honest.Body.Bytes()
		}
	})
}

func nameless(o *honest) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		x.set("/error/details/first_unavailable", "null")
		x.set("/failure/details/first_unavailable", "null")
	})
}
