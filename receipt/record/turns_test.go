package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
)

func turnOptions() record.Options {
	return record.Options{
		Issuer: receipt.Issuer{ID: "harness_example_cloud"}, TaskID: "inv_1", SessionID: "conv-001", WorkspaceRef: "w", Tier: "act_with_approval",
	}
}

// do executes one line of a script. The number of the line determines the time.
func do(t *record.Turn, second int, line string) error {
	what, rest, _ := strings.Cut(line, " ")
	at := time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC)
	first, more, _ := strings.Cut(rest, " ")
	var data []byte
	if more != "" {
		data = []byte(more)
	}
	switch what {
	case "send":
		return t.Send(at, []byte(rest))
	case "begin":
		return t.Begin(at)
	case "message":
		return t.Message(at, []byte(rest))
	case "suspend":
		return t.Suspend(at, first, data)
	case "signal":
		id, actor, _ := strings.Cut(first, "/")
		return t.Signal(at, record.Signal{ID: id, Actor: actor, Payload: data})
	case "complete":
		return t.Complete(at)
	case "fail":
		return t.Fail(at, record.Failure{Category: first, Bucket: record.Bucket(more)})
	case "event":
		return t.Event(at, first, data)
	}
	panic("no such line: " + line)
}

// play executes a script, and returns the turn, its events, and the first error.
func play(t testing.TB, lines ...string) (tr *record.Turn, log []byte, err error) {
	t.Helper()
	o := turnOptions()
	o.Keep = func(line []byte) error { log = append(log, line...); return nil }
	if tr, err = record.NewTurn(o); err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		if err = do(tr, i+1, line); err != nil {
			break
		}
	}
	return tr, log, err
}

const hello = `send {"role":"user","content":"Hello"}`

func assistant(text string) string { return `message {"role":"assistant","content":"` + text + `"}` }

// replied returns an added message in the form used in drafts.
func replied(n int, message string) string {
	return fmt.Sprintf(`{"artifact_id":"reply_%d","kind":"message","sha256":"%s"}`, n, sum(message))
}

// endedWell and failedIn are the final members of a lifecycle.
const endedWell = `"failure":null,"final_state":"SUCCEEDED"`

func failedIn(category, bucket string) string {
	return `"failure":{"code":"` + category + `","message":"` + bucket + `"},"final_state":"FAILED"`
}

// A turnCase is a turn in a chat, with the expected parts of its draft.
type turnCase struct {
	name  string
	lines []string
	wants []string
}

// turnCases returns the turns from the ten fixtures of the chat contract, and a turn with a message
// that contains unsupported blocks.
func turnCases() []turnCase {
	const (
		weather = `{"content":[],"role":"assistant","tool_calls":[{"arguments":{"location":"Paris"},"id":"call_abc","name":"get_weather"}]}`
		sunny   = `{"content":"Sunny, 22°C","role":"tool","tool_call_id":"call_abc"}`
		waiting = `{"content":"I'm waiting for approval to send this email.","role":"assistant"}`
	)
	says := func(text string) string { return `{"content":"` + text + `","role":"assistant"}` }
	return []turnCase{
		{"001 a reply", []string{hello, "begin", "message " + says("Hi there"), "complete"}, []string{
			endedWell, `"created_at":"2026-01-01T00:00:01Z"`, `"started_at":"2026-01-01T00:00:02Z"`, `"final_artifacts":[` + replied(1, says("Hi there")) + `]`, `"approvals":[]`,
			`"session_id":"conv-001","task_id":"inv_1"`, `"subject":{"id":"inv_1","object":"task"}`, `"determinism":"best_effort"`}},
		{"002 a second turn", []string{`send {"role":"user","content":"Second message"}`, "begin", "message " + says("echo"), "complete"}, []string{endedWell, replied(1, says("echo"))}},
		{"003 a tool", []string{hello, "begin", "message " + weather, "message " + sunny, "message " + says("The weather in Paris is sunny, 22°C."), "complete"}, []string{
			endedWell, `"final_artifacts":[` + replied(1, weather) + "," + replied(2, sunny) + "," + replied(3, says("The weather in Paris is sunny, 22°C.")) + `]`,
			`"tool_calls":[{"call_id":"call_abc","input_hash":"` + sum(`{"location":"Paris"}`) + `","output_hash":"` + sum(`"Sunny, 22°C"`) + `"`, `"tool":"get_weather"`, `"/side_effects/tool_calls/0/status"`}},
		{"004 an image", []string{`send {"role":"user","content":[{"type":"text","text":"What's in this picture?"},{"type":"image","source":{"type":"url","url":"https://example.com/sunset.jpg"}}]}`, "begin",
			"message " + says("Got your image. Looks like a sunset."), "complete"}, []string{endedWell, replied(1, says("Got your image. Looks like a sunset.")), `"network_egress":[]`}},
		{"006 a signal", []string{`send {"role":"user","content":"Send the email."}`, "begin", "message " + waiting, `suspend approval-002 {"action":"send_email"}`, `signal approval-002/user_bob {"approved":true}`, "begin",
			"message " + says("Email sent."), "complete"}, []string{
			endedWell, `"started_at":"2026-01-01T00:00:02Z"`, `"completed_at":"2026-01-01T00:00:08Z"`, `"wall_time_ms":6000`, replied(1, waiting), replied(2, says("Email sent.")),
			`"action":"send_email","actor":"user_bob","approval_id":"approval-002","decided_at":"2026-01-01T00:00:05Z","decision":"approved"`,
			`"evidence_hash":"` + sum(`{"request":{"action":"send_email","approval_id":"approval-002","input":{"action":"send_email"}},"response":{"actor":"user_bob","approval_id":"approval-002","approved":true}}`), `!/approvals`}},
		{"007 the session is not loaded", []string{hello, "fail session_load_failed session_terminating"}, []string{
			failedIn("session_load_failed", "session_terminating"), `"unreported":["/cost/total","/lifecycle/started_at","/model_route/chosen_model"]`}},
		{"008 the provider is away", []string{hello, "begin", "fail provider_unavailable retryable_transient"}, []string{failedIn("provider_unavailable", "retryable_transient"), `!/lifecycle/started_at`}},
		{"009 the request is invalid", []string{hello, "begin", `message {"role":"system","content":"That request couldn't be processed."}`, "fail provider_invalid_request user_correctable"}, []string{
			failedIn("provider_invalid_request", "user_correctable"), `"artifact_id":"reply_1"`, `"determinism":"byte_deterministic"`}},
		{"010 no id of a call", []string{`send {"role":"tool","content":"Sunny"}`, "fail chat_message_shape_invalid user_correctable"}, []string{
			failedIn("chat_message_shape_invalid", "user_correctable"), `"/lifecycle/started_at"`, `"tool_calls":[]`}},
		{"an unsupported block", []string{`send {"role":"user","content":[{"type":"audio","data":"…"}]}`, "fail chat_message_shape_invalid user_correctable"}, []string{failedIn("chat_message_shape_invalid", "user_correctable")}},
	}
}

// TestTurns verifies that each turn that has ended has one valid receipt. The events of the turn
// alone must produce the same draft, and so must a turn that is continued after any of the events.
func TestTurns(t *testing.T) {
	signer, trust := issuerKey(t)
	v, err := receipt.NewVerifier(trust, receipt.Policy{})
	if err != nil {
		t.Fatal(err)
	}
	head := chain.Head{}
	for _, test := range turnCases() {
		tr, log, err := play(t, test.lines...)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		d, err := tr.Draft()
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		text := asJSON(t, d)
		has(t, test.name, text, test.wants...)
		if c := tr.Counts(); c.Unknown > 0 || c.UnknownMembers > 0 || c.Events != bytes.Count(log, []byte("\n")) {
			t.Errorf("%s: %+v", test.name, c)
		}
		if again := asJSON(t, read(t, turnOptions(), log, record.FormEvents).Draft); again != text {
			t.Errorf("%s: its events give another draft\n%s", test.name, differ(again, text))
		}
		resumed(t, test.lines, text, log)

		sealed, err := receipt.Seal(d, head)
		if err != nil {
			t.Fatal(err)
		}
		if sealed, err = sealed.Sign(t.Context(), signer); err != nil {
			t.Fatal(err)
		}
		head = sealed.Head()
		if _, err := v.Open(sealed.JSON()); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// resumed plays a script. Before each line, it continues in another process, from the events so
// far.
func resumed(t *testing.T, lines []string, want string, wantLog []byte) {
	t.Helper()
	var log []byte
	for i := range lines {
		tr := fromLog(t, &log)
		if err := do(tr, i+1, lines[i]); err != nil {
			t.Fatalf("resumed before line %d: %v", i, err)
		}
	}
	d, err := fromLog(t, &log).Draft()
	if err != nil {
		t.Fatal(err)
	}
	if got := asJSON(t, d); got != want || !bytes.Equal(log, wantLog) {
		t.Errorf("resumed: another draft\n%s\n%s", differ(got, want), log)
	}
}

// fromLog returns the turn that wrote a log. New events are appended to the log.
func fromLog(t testing.TB, log *[]byte) *record.Turn {
	t.Helper()
	o := turnOptions()
	o.Keep = func(line []byte) error { *log = append(*log, line...); return nil }
	tr, err := record.ResumeTurn(o, bytes.NewReader(slices.Clone(*log)))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestSuspendedTurn verifies that a suspended turn has no draft, whether in the same process or in
// another one (fixture 005). The turn must not begin, complete, or accept another signal.
func TestSuspendedTurn(t *testing.T) {
	lines := []string{`send {"role":"user","content":"Send the email to Bob."}`, "begin", assistant("I'm waiting for approval to send this email."), `suspend approval-001 {"action":"send_email"}`}
	tr, log, err := play(t, lines...)
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range []*record.Turn{tr, fromLog(t, &log)} {
		if _, err := tr.Draft(); !errors.Is(err, record.ErrNotEnded) || tr.Waiting() != "approval-001" || tr.Ended() {
			t.Errorf("%v, waits for %q", err, tr.Waiting())
		}
	}

	var refused *event.Error
	for _, line := range []string{"begin", "complete"} {
		tr, _, err := play(t, append(lines[:4:4], line)...)
		if !errors.As(err, &refused) || refused.Code != event.CodeTransition || refused.Index != 5 {
			t.Errorf("%s: %v", line, err)
		}
		if _, again := tr.Draft(); again != err {
			t.Errorf("%s: %v", line, again)
		}
	}

	// If the session is lost while the turn waits, no decision is recorded.
	tr, _, err = play(t, append(lines[:4:4], "fail session_load_failed session_terminating")...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := tr.Draft()
	if err != nil {
		t.Fatal(err)
	}
	has(t, "lost", asJSON(t, d), `"decision":"timeout"`, `"/approvals/0/decided_at","/approvals/0/decision"`, failedIn("session_load_failed", "session_terminating"))
}

// TestSecondSignal verifies that the first signal decides the outcome. A second signal, a signal
// before the turn waits, and a signal with another ID are refused and change nothing.
func TestSecondSignal(t *testing.T) {
	script := []string{
		"!signal s/user_eve {\"approved\":false}", "!signal /user_eve", hello, "begin", "!signal s/user_eve {\"approved\":false}", "suspend s", "!signal t/user_eve {\"approved\":false}", "!signal /user_eve {\"approved\":false}",
		`signal s/user_bob {"approved":true}`, "!signal s/user_eve {\"approved\":false}", "begin", "!signal s/user_eve {\"approved\":false}", "complete", "!signal s/user_eve {\"approved\":false}",
	}
	tr, err := record.NewTurn(turnOptions())
	if err != nil {
		t.Fatal(err)
	}
	var plain []string
	for i, line := range script {
		line, wrong := strings.CutPrefix(line, "!")
		err := do(tr, i+1, line)
		var refused *record.SignalError
		if wrong != errors.As(err, &refused) || !wrong && err != nil || wrong && !strings.Contains(err.Error(), "the turn waits for") {
			t.Errorf("%d, %s: %v", i, line, err)
		}
		if !wrong {
			plain = append(plain, line)
		}
	}
	d, err := tr.Draft()
	if err != nil || len(plain) != 6 {
		t.Fatal(err)
	}
	has(t, "the first decides", asJSON(t, d), `"action":"tool_call","actor":"user_bob","approval_id":"s","decided_at":"2026-01-01T00:00:09Z","decision":"approved"`, `"unreported":["/approvals/0/action",`, `!user_eve`, `!contradictions`)
}

// TestSignals verifies that only an approving signal approves. The harness determines who sent the
// signal; the signal itself does not.
func TestSignals(t *testing.T) {
	for _, test := range []struct {
		signal string
		wants  []string
	}{
		{`s/u {"approved":true}`, []string{`"actor":"u"`, `"decision":"approved"`, `!/approvals/0/d`}},
		{`s/u {"accepted":true}`, []string{`"decision":"approved"`}},
		{`s/u {"decision":"allow"}`, []string{`"decision":"approved"`}},
		{`s/u {"approved":true,"accepted":false}`, []string{`"decision":"denied"`}},
		{`s/u {"approved":false}`, []string{`"decision":"denied"`, `!/approvals/0/d`}},
		{`s/u {"approved":"true"}`, []string{`"decision":"denied"`, `"/approvals/0/decision"`}},
		{`s/u {"decision":"sure"}`, []string{`"decision":"denied"`, `"raw_decision":"sure"`}},
		{`s/u {"decision":{"approved":true}}`, []string{`"decision":"denied"`}},
		{`s/u {"amount":7}`, []string{`"decision":"denied"`, `"/approvals/0/decision"`}},
		{`s/u [true]`, []string{`"decision":"denied"`, `"/approvals/0/decision"`}},
		{`s/u {"approved":false,"approved":true}`, []string{`"decision":"denied"`, `"/approvals/0/decision"`}},
		{`s/u {"decision":"approved","accepted":null}`, []string{`"decision":"approved"`}},
		{`s/u {"decision":"timed_out"}`, []string{`"decision":"timeout"`}},
		{`s/u no JSON`, []string{`"decision":"denied"`, `"/approvals/0/decision"`}},
		{`s/u`, []string{`"decision":"denied"`, `"/approvals/0/decision"`}},
		{`s {"approved":true,"actor":"mallory","reviewers":["mallory"]}`, []string{`"actor":"host"`, `"decision":"approved"`, `"/approvals/0/actor"`, `!mallory`}},
	} {
		tr, log, err := play(t, hello, "begin", `suspend s {"action":7}`, "signal "+test.signal, "begin", "complete")
		if err != nil {
			t.Fatalf("%s: %v", test.signal, err)
		}
		d, err := tr.Draft()
		if err != nil {
			t.Fatal(err)
		}
		has(t, test.signal, asJSON(t, d), append(test.wants, `"/approvals/0/action"`)...)
		_, payload, given := strings.Cut(test.signal, " ")
		if got := (record.Signal{Payload: []byte(payload)}).Decision(); got != d.Approvals[0].Decision { // the decision that the harness receives
			t.Errorf("%s: %s, but the receipt states %s", test.signal, got, d.Approvals[0].Decision)
		}
		if given {
			digest := sum(payload)
			if doc, err := canon.Parse([]byte(payload)); err == nil {
				digest = canon.Sum(doc.AppendCanonical(nil)).String()
			}
			has(t, test.signal, string(log), digest)
		}
	}
}

// TestWaiting verifies that a turn waits for the last question that is still open.
func TestWaiting(t *testing.T) {
	for last, want := range map[string]string{
		`event tool.approval_required {"approval_id":"a"} event task.input_required {}`:                                                  "a",
		`event tool.approval_required {"approval_id":"a"} event tool.approved {"approval_id":"a"} event task.input_required {}`:          "",
		`event tool.approval_required {"request_id":"a"} event tool.denied {"request_id":"a"} event task.input_required {}`:              "",
		`event tool.approval_required {"approval_id":"a"} event task.input_required {} event task.started {}`:                            "",
		`event tool.approval_required {"approval_id":"a"} event task.input_required {} event user.tool_confirmation {"approval_id":"b"}`: "a",
	} {
		tr, _, err := play(t, append([]string{hello, "begin"}, strings.Split(strings.ReplaceAll(last, " event ", "\nevent "), "\n")...)...)
		if err != nil || tr.Waiting() != want {
			t.Errorf("%s: %v, waits for %q", last, err, tr.Waiting())
		}
	}
}

// TestSuspendedTwice verifies that each suspension is a separate question, even for the same signal
// ID and after the turn continues in another process.
func TestSuspendedTwice(t *testing.T) {
	lines := []string{
		hello, "begin", `suspend s {"action":"a"}`, `signal s/u {"approved":true}`, "begin", `suspend s#2 {"action":"b"}`, `signal s#2/u {"approved":true}`, "begin",
		`suspend s {"action":"c"}`, `signal s/v {"approved":false}`, "begin", "suspend r", "signal r", "begin", "suspend r", "signal r", "begin", "suspend r#2", "signal r#2", "begin", "complete",
	}
	tr, log, err := play(t, lines...)
	if err != nil {
		t.Fatal(err)
	}
	d, err := tr.Draft()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range d.Approvals {
		got = append(got, a.ApprovalID+" "+a.Action+" "+a.Decision)
	}
	if want := []string{"s a approved", "s#2 b approved", "s#3 c denied", "r tool_call denied", "r#2 tool_call denied", "r#2#2 tool_call denied"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	resumed(t, lines, asJSON(t, d), log)
}

// TestTurnEvents verifies that events that add information to the messages are recorded once. If
// the runtime's record is to take precedence over a message, the record must precede the message.
func TestTurnEvents(t *testing.T) {
	const call = `message {"role":"assistant","tool_calls":[{"id":"c","name":"n","arguments":{"a":1}}]}`
	for _, test := range []turnCase{
		{"a model", []string{hello, "begin", `event span.completed {"kind":"llm","provider":"p","model":"m","cost":0.25}`, assistant("Hi"), "complete"},
			[]string{`"chosen_model":{"model":"m","provider":"p"}`, `"total":0.25`, `!/cost/total`}},
		{"a runtime's end of a call", []string{hello, "begin", call, `event tool.failed {"tool_call_id":"c","fs_writes":[],"network_egress":[]}`, `message {"role":"tool","tool_call_id":"c","content":"timed out"}`, "complete"},
			[]string{`"status":"failed"`, `!/status"`, `"output_hash":"` + sum(`"timed out"`), `!/side_effects`}},
		{"a call that nothing answers", []string{hello, "begin", call, "complete"}, []string{`"incomplete":true`, `"/side_effects/tool_calls/0/status"`, `"status":"canceled"`}},
		{"no arguments", []string{hello, "begin", strings.Replace(call, `{"a":1}`, `null`, 1), `message {"role":"tool","tool_call_id":"c","content":""}`, "complete"}, []string{`!input_hash`, `"output_hash":"` + sum(`""`)}},
		{"a budget", []string{`event task.submitted {"autonomy_budget":{"tool_calls":3},"autonomy_tier":"suggest"}`, hello, "begin", "complete"}, []string{`"limit":{"tool_calls":3}`, `"start_tier":"suggest"`}},
		{"a reply of another's name", []string{hello, "begin", `event artifact.created {"artifact_id":"reply_4","kind":"file"}`, assistant("Hi"), "complete"}, []string{`"artifact_id":"reply_4","kind":"file"`, `"artifact_id":"reply_5","kind":"message"`}},
		{"a file", []string{hello, "begin", `event artifact.created {"artifact_id":"reply_x","kind":"file"}`, assistant("Hi"), "complete"}, []string{`"artifact_id":"reply_1","kind":"message"`}},
		{"an end without a signal", []string{hello, "begin", `suspend s {"action":"a"}`, `event task.canceled {"actor":"u","reason":"gone"}`}, []string{`"final_state":"CANCELED"`, `"decision":"canceled"`, `"/approvals/0/decision"`, `"cancel_reason":"gone"`}},
		{"a runtime's decision", []string{hello, "begin", `suspend s {"action":"a"}`, `event tool.approved {"approval_id":"s","actor":"u"}`, "begin", "complete"}, []string{`"actor":"u"`, `"decision":"approved"`}},
		{"a question beside the signal", []string{hello, "begin", `suspend s {"action":"a"}`, `event tool.approval_required {"approval_id":"x","action":"y"}`, `signal s/u {"approved":true}`, "begin", "complete"},
			[]string{`"approval_id":"s","decided_at":"2026-01-01T00:00:05Z","decision":"approved"`, `"approval_id":"x","decided_at":"2026-01-01T00:00:07Z","decision":"timeout"`}},
		{"a failure without a category", []string{hello, "begin", "fail  user_correctable"}, []string{`"failure":{"message":"user_correctable"}`}},
	} {
		tr, _, err := play(t, test.lines...)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		d, err := tr.Draft()
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		has(t, test.name, asJSON(t, d), test.wants...)
	}
}

// TestTurnRefused verifies the errors that end the recording of a turn, including the number of the
// part. Afterward, no draft is available and no further part is accepted.
func TestTurnRefused(t *testing.T) {
	for _, test := range []struct {
		name    string
		code    event.Code
		pointer string
		lines   []string
	}{
		{"two messages", event.CodeTransition, "", []string{hello, hello}},
		{"completed before it began", event.CodeTransition, "/event", []string{hello, "complete"}},
		{"a message after the end", event.CodeAfterEnd, "/event", []string{hello, "begin", "complete", assistant("Hi")}},
		{"an end after the end", event.CodeAfterEnd, "/event", []string{hello, "begin", "complete", "fail x user_correctable"}},
		{"no bucket", event.CodePayload, "", []string{hello, "fail provider_unavailable"}},
		{"another bucket", event.CodePayload, "", []string{hello, "fail provider_unavailable later"}},
		{"no signal", event.CodePayload, "", []string{hello, "begin", "suspend "}},
		{"metadata that are no object", event.CodePayload, "", []string{hello, "begin", "suspend s 7"}},
		{"no JSON as metadata", event.CodePayload, "", []string{hello, "begin", "suspend s {"}},
		{"a message of no shape", event.CodePayload, "/tool_calls/0", []string{hello, "begin", `message {"role":"assistant","tool_calls":[{}]}`}},
		{"a message that is no JSON", event.CodePayload, "", []string{hello, "begin", `message {`}},
		{"an event that is none", event.CodeMalformed, "", []string{hello, "begin", `event span.completed 7`}},
		{"a kind that is no text", event.CodeMalformed, "", []string{hello, "begin", "event x\xff {}"}},
		{"a signal that is no text", event.CodeMalformed, "", []string{hello, "begin", "suspend \xff"}},
		{"an actor that is no text", event.CodeMalformed, "", []string{hello, "begin", "suspend s", "signal s/\xff"}},
		{"a category that is no text", event.CodeMalformed, "", []string{hello, "begin", "fail \xff user_correctable"}},
		{"a long id", event.CodeLimit, "/payload/tool_call_id", []string{hello, "begin", `message {"role":"tool","content":"","tool_call_id":"` + strings.Repeat("x", event.MaxText+1) + `"}`}},
	} {
		tr, _, err := play(t, test.lines...)
		var refused *event.Error
		if !errors.As(err, &refused) || refused.Code != test.code || refused.Pointer != test.pointer || refused.Index != len(test.lines) {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if d, again := tr.Draft(); d != nil || again != err {
			t.Errorf("%s: a draft, %v", test.name, again)
		}
		for _, line := range []string{hello, "begin", assistant("Hi"), "suspend s", "signal s", "complete", "fail x user_correctable", "event x {}"} {
			if again := do(tr, 9, line); again != err {
				t.Errorf("%s: after it %s is %v", test.name, line, again)
			}
		}
	}

	tr, err := record.NewTurn(turnOptions())
	if err != nil {
		t.Fatal(err)
	}
	var refused *event.Error
	if err := tr.Begin(time.Time{}); !errors.As(err, &refused) || refused.Code != event.CodeTime {
		t.Errorf("no time: %v", err)
	}

	// The same applies to an event among frames.
	frames, err := record.NewFrames(turnOptions())
	if err != nil {
		t.Fatal(err)
	}
	if err := frames.Event(time.Unix(1, 0), "x\xff", []byte(`{}`)); !errors.As(err, &refused) || refused.Code != event.CodeMalformed {
		t.Errorf("an event with invalid UTF-8: %v", err)
	}
}

// TestTurnOptions verifies that a turn requires the IDs of an invocation and a chat.
func TestTurnOptions(t *testing.T) {
	for name, change := range map[string]func(*record.Options){
		"TaskID": func(o *record.Options) { o.TaskID = "" }, "SessionID": func(o *record.Options) { o.SessionID = "" }, "Issuer.ID": func(o *record.Options) { o.Issuer.ID = "" },
	} {
		o := turnOptions()
		change(&o)
		var refused *record.OptionError
		if _, err := record.NewTurn(o); !errors.As(err, &refused) || refused.Name != name {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := record.ResumeTurn(o, strings.NewReader("")); !errors.As(err, &refused) || refused.Name != name {
			t.Errorf("%s, resumed: %v", name, err)
		}
	}
}

// TestResumeTurn verifies that the error for an invalid log contains the location.
func TestResumeTurn(t *testing.T) {
	_, log, err := play(t, hello, "begin")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(log, []byte("\n"))
	for name, log := range map[string][]byte{"no JSON": append(slices.Clone(log), '{'), "a gap": slices.Concat(lines[0], lines[2])} {
		var at *event.LineError
		if _, err := record.ResumeTurn(turnOptions(), bytes.NewReader(log)); !errors.As(err, &at) || at.Line < 2 {
			t.Errorf("%s: %v", name, err)
		}
	}

	// Events that belong to another task or another resource are skipped.
	other := []byte(`{"id":"x","event":"user.message","resource":{"object":"task","id":"o"},"created_at":"2026-01-01T00:00:00Z","sequence":70,"task_id":"o","payload":{}}` + "\n" +
		`{"id":"y","event":"user.message","resource":{"object":"session","id":"conv-001"},"created_at":"2026-01-01T00:00:00Z","sequence":80,"task_id":"inv_1","payload":{}}` + "\n")
	both := slices.Concat(lines[0], other)
	tr := fromLog(t, &both)
	for i, line := range []string{"begin", "complete"} {
		if err := do(tr, i+5, line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if err := do(fromLog(t, &lines[0]), 5, hello); err != nil {
		t.Error(err)
	}
}

// TestOneMessage verifies that a string has the same content as a single text block, and that
// different messages have different digests.
func TestOneMessage(t *testing.T) {
	content := func(message string) (content, whole string) {
		_, log, err := play(t, "send "+message)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := canon.Parse(bytes.TrimSpace(bytes.SplitAfter(log, []byte("\n"))[1]))
		if err != nil {
			t.Fatal(err)
		}
		p := doc.Root().Member("payload")
		return p.Member("content_sha256").String(), p.Member("message_sha256").String()
	}
	text, _ := content(`{"role":"user","content":"Hello"}`)
	block, _ := content(`{"role":"user","content":[{"type":"text","text":"Hello"}]}`)
	if text != block || text != sum(`[{"text":"Hello","type":"text"}]`) {
		t.Errorf("%s and %s", text, block)
	}

	seen := map[string]string{}
	for _, message := range []string{
		`{"role":"user","content":"Hello"}`, `{"role":"user","content":"Hello."}`, `{"role":"tool","content":"Hello"}`, `{"role":"tool","content":"Hello","tool_call_id":"c"}`, `{`, `[`, `{"role":7}`, `{}`, ``,
		`{"role":"user","content":[{"type":"text","text":"Hello","signature":"s"}]}`, `{"role":"user","content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]}`, `{"role":"user","content":7}`,
	} {
		_, whole := content(message)
		if before, twice := seen[whole]; twice {
			t.Errorf("%s and %s have the digest %s", before, message, whole)
		}
		seen[whole] = message
	}
}
