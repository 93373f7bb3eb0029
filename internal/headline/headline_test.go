package headline_test

import (
	"strings"
	"testing"
)

const (
	effects = `"side_effects":{"fs_writes":[{"path":"a"}],"network_egress":[{"destination":"h"}],"tool_calls":[{"tool":"t","call_id":"1","status":"failed"},{"tool":"t","call_id":"2","status":"succeeded"}],"a2a_handoffs":[]}`
	nothing = `"side_effects":{"fs_writes":[],"network_egress":[],"tool_calls":[],"a2a_handoffs":[]},"cost":{"currency":"USD","total":0}`
	ended   = `"lifecycle":{"started_at":"2026-04-25T19:16:14Z","completed_at":"2026-04-25T19:17:33Z","final_state":"SUCCEEDED"}`
)

// TestSentence verifies headlines, each for one fact in a receipt.
func TestSentence(t *testing.T) {
	for _, test := range []struct{ name, receipt, want string }{
		{"everything", ended + `,` + effects, "Task succeeded in 1 min 19 s: 1 file changed, 2 tool calls (1 failed), 1 request to 1 host, 0 approvals."},
		{"nothing", ended + `,` + nothing, "Task succeeded in 1 min 19 s for USD 0: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"writes of one file", ended + `,"side_effects":{"fs_writes":[{"path":"a"},{"path":"a"},{"path":"b"}]}`, "Task succeeded in 1 min 19 s: 2 files changed in 3 writes, 0 tool calls, 0 requests, 0 approvals."},
		{"requests to one host", `"side_effects":{"network_egress":[{"destination":"a.example"},{"destination":"https://A.example:443/x"},{"destination":"b.example"}]}`, "Task ended in an unknown state: 0 files changed, 0 tool calls, 3 requests to 2 hosts, 0 approvals."},
		{"bytes to one host", `"side_effects":{"network_egress":[{"destination":"a","bytes_sent":1000},{"destination":"a","bytes_sent":24}]}`, "Task ended in an unknown state: 0 files changed, 0 tool calls, 2 requests to 1 host, 1,024 bytes sent, 0 approvals."},
		{"bytes of some requests", `"side_effects":{"network_egress":[{"destination":"a","bytes_sent":1000},{"destination":"a"}]}`, "Task ended in an unknown state: 0 files changed, 0 tool calls, 2 requests to 1 host, at least 1,000 bytes sent, 0 approvals."},
		{"a call listed twice", `"side_effects":{"tool_calls":[{"tool":"t","call_id":"1","status":"succeeded"},{"tool":"t","call_id":"1","status":"failed"}]}`, "Task ended in an unknown state: 0 files changed, 1 tool call (1 failed), 0 requests, 0 approvals."},
		{"withheld paths", `"side_effects":{"fs_writes":[{"path":"[redacted]"},{"path":"[redacted]"},{"path":"a"}]}`, "Task ended in an unknown state: at least 1 file changed in 3 writes, 0 tool calls, 0 requests, 0 approvals."},
		{"one withheld path", `"side_effects":{"fs_writes":[{"path":"[redacted]"}]}`, "Task ended in an unknown state: 1 file changed, 0 tool calls, 0 requests, 0 approvals."},

		{"the end of a turn", ended + `,` + nothing + `,"metadata":{"inferred":["/lifecycle/final_state"]}`, "Turn ended after 1 min 19 s for USD 0: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"the end of several turns", ended + `,` + nothing + `,"metadata":{"inferred":["/lifecycle/final_state"],"source":{"prompts":{"count":1088}}}`, "Session with 1,088 prompts ended after 1 min 19 s for USD 0: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"an inferred failure", `"lifecycle":{"final_state":"FAILED"},"metadata":{"inferred":["/lifecycle/final_state"]}`, "Task failed: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"an unreported end", ended + `,"metadata":{"unreported":["/lifecycle/final_state"],"inferred":["/lifecycle/final_state"]}`, "Task ended after 1 min 19 s, outcome not recorded: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},

		{"a replay", `"subject":{"object":"replay_segment","id":"s"},"identifiers":{"task_id":"task_2"},"deltas":[{"operation":"replace","override_key":"a"},{"operation":"replace","override_key":"a"},{"operation":"replace","override_key":"b"},{"operation":"add","path":"/c"}],"metadata":{"source_task_id":"task_1"},` + ended + `,` + nothing, "Replay of task_1 as task_2: 2 answers replaced, 1 answer added, nothing was executed."},
		{"a failed replay", `"subject":{"object":"replay_segment","id":"s"},"identifiers":{"task_id":"task_2"},"lifecycle":{"final_state":"FAILED"},` + nothing, "Replay as task_2 failed: no answer replaced, nothing was executed."},
		{"a replay that did something", `"subject":{"object":"replay_segment","id":"s"},"identifiers":{"task_id":"task_2"},"metadata":{"source_task_id":"task_1"},` + ended + `,` + effects, "Replay of task_1 as task_2: no answer replaced, 1 file changed, 2 tool calls (1 failed), 1 request to 1 host, 0 approvals."},
		{"a replay of which little is known", `"subject":{"object":"replay_segment","id":"s"},"identifiers":{"task_id":"task_2"},"metadata":{"source_task_id":"task_1","unreported":["/deltas","/side_effects/tool_calls"]},` + ended + `,` + nothing, "Replay of task_1 as task_2: answers replaced not recorded, 0 files changed, 0 requests, 0 approvals."},
		{"a bundle", `"subject":{"object":"artifact","id":"bundle_1"},"redactions":[{"field":"/a"},{"field":"/a"},{"field":"/b"},{"field":"/c","proof_hash":"x"}],"metadata":{"session_bundle":{"mode":"sanitized"}},` + ended + `,` + nothing, "Session bundle bundle_1, sanitized: 2 values removed. Its task succeeded in 1 min 19 s for USD 0: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"an artifact", `"subject":{"object":"artifact","id":"patch_1"},` + ended + `,` + nothing, "Receipt of artifact patch_1. Its task succeeded in 1 min 19 s for USD 0: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},

		{"no cost", `"cost":{"currency":"USD","total":0},"metadata":{"unreported":["/cost"]}`, "Task ended in an unknown state: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"a lower bound", `"cost":{"currency":"USD","total":2},"metadata":{"unreported":["/cost/total"]}`, "Task ended in an unknown state for at least USD 2: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"an upper bound", `"cost":{"currency":"USD","total":2},"metadata":{"at_most":["/cost/total"]}`, "Task ended in an unknown state for at most USD 2: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"neither bound", `"cost":{"currency":"USD","total":2},"metadata":{"unreported":["/cost/total"],"at_most":["/cost/total"]}`, "Task ended in an unknown state for reportedly USD 2: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"an estimate", `"cost":{"currency":"USD","total":2},"metadata":{"estimated":["/cost/total"]}`, "Task ended in an unknown state for USD 2 (estimated by the source): 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"no currency", `"cost":{"currency":"XXX","total":2},"metadata":{"unreported":["/cost/currency"]}`, "Task ended in an unknown state for 2, currency not recorded: 0 files changed, 0 tool calls, 0 requests, 0 approvals."},
		{"incomplete lists", effects + `,"metadata":{"unreported":["/approvals","/side_effects"]}`, "Task ended in an unknown state: at least 1 file changed, at least 2 tool calls (1 failed), at least 1 request to at least 1 host."},
		{"open ends", effects + `,"metadata":{"unreported":["/side_effects/network_egress/0","/side_effects/tool_calls/0/status"]}`, "Task ended in an unknown state: 1 file changed, 2 tool calls (1 of unknown outcome), 0 approvals."},
		{"decisions", `"approvals":[{"decision":"denied"},{"decision":"timeout"},{"decision":"approved"},{"decision":"x"},{"decision":"approved"}],"metadata":{"unreported":["/approvals/4/decision"]}`, "Task ended in an unknown state: 0 files changed, 0 tool calls, 0 requests, 1 approval, 1 denied, 1 timed out, 2 of unknown decision."},
		{"large numbers", `"side_effects":{"network_egress":[{"destination":"a","bytes_sent":9007199254740991},{"destination":"a","bytes_sent":9007199254740991},{"destination":"a","bytes_sent":9007199254740991}]}`, "Task ended in an unknown state: 0 files changed, 0 tool calls, 3 requests to 1 host, 27,021,597,764,222,973 bytes sent, 0 approvals."},
		{"a bound of one entry", `"side_effects":{"network_egress":[{"destination":"a","bytes_sent":7}]},"metadata":{"at_most":["/side_effects/network_egress/0/bytes_sent"]}`, "Task ended in an unknown state: 0 files changed, 0 tool calls, 1 request to 1 host, at most 7 bytes sent, 0 approvals."},
	} {
		if got := sentence(t, []byte("{"+test.receipt+"}")); got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
}

// TestSentenceOfForeign verifies that a long or invalid value in a receipt does not result in a
// long headline.
func TestSentenceOfForeign(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, text := range []string{
		`{"subject":{"object":"` + long + `","id":"` + long + `"},"cost":{"total":1,"currency":"` + long + `"}}`,
		`{"subject":{"object":"replay_segment"},"identifiers":{"task_id":["` + long + `"]},"metadata":{"source_task_id":"` + long + `"},"deltas":7}`,
		`{"subject":{"id":{}},"metadata":{"session_bundle":{"mode":"` + long + `"}},"redactions":{}}`,
		`{"side_effects":[],"approvals":{},"cost":"","lifecycle":null,"metadata":[]}`,
	} {
		if got := sentence(t, []byte(text)); len(got) > 2000 || got == "" {
			t.Errorf("%d bytes: %.200q", len(got), got)
		}
	}
}
