package source_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
)

// unheard is a type that no reader supports.
const unheard = "x_unheard_of"

// TestUnread replaces the type of each record and content block in public logs with an unknown
// type, one at a time. If the draft then states less, the affected values must be lower bounds.
// Unless it runs at full size, the test replaces only a few types in each log, and skips large
// logs. At full size, the test replaces fewer types in larger logs.
func TestUnread(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	places, size := testsize.Of(8, 40, 150), testsize.Of(200_000, 8<<20)
	replaced := 0
	for _, name := range publicLogs(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > size || bytes.HasPrefix(text, []byte("\x28\xb5\x2f\xfd")) {
			continue
		}
		lines := valuesOf(text)
		before := tryRead(t, bytes.Join(lines, []byte("\n")))
		if before == nil {
			t.Fatalf("%s is not read", name)
		}
		want := amountsOf(t, before)

		all := typesIn(t, lines)
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, p := range all[:min(len(all), max(8, places*50_000/max(50_000, len(text))))] {
			changed := slices.Clone(lines)
			changed[p.line] = p.replaced
			d := tryRead(t, bytes.Join(changed, []byte("\n")))
			if d == nil { // nothing is stated
				continue
			}
			replaced++
			untold, got := read(t, d).untold, amountsOf(t, d)
			for at, n := range want {
				if m, have := got[at]; have && m < n && !listed(untold, at) {
					t.Errorf("%s, line %d, %s: %s is %v, was %v, and is not unreported", filepath.Base(name), p.line+1, p.what, at, m, n)
				}
			}
		}
	}
	if replaced < 150 {
		t.Errorf("%d replaced types", replaced)
	}
}

// publicLogs returns the logs of all supported kinds from both sets.
func publicLogs(t *testing.T) (names []string) {
	t.Helper()
	for _, set := range []string{"sources", "sources-2"} {
		dir := vectors.Dir(t, set)
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".expected.json") || strings.HasSuffix(name, "family.expected.json") {
				return err
			}
			var f facts
			if readJSON(t, name, &f); reads(f.Source) {
				names = append(names, filepath.Join(filepath.Dir(name), f.File.Name))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// valuesOf returns the lines of a log. If the log is a JSON value that spans several lines, the
// value is returned as one line.
func valuesOf(text []byte) [][]byte {
	var whole bytes.Buffer
	if json.Compact(&whole, text) == nil {
		return [][]byte{whole.Bytes()}
	}
	return bytes.Split(bytes.TrimSpace(text), []byte("\n"))
}

// typed contains a line in which the type of one record or block was replaced.
type typed struct {
	line     int
	what     string
	replaced []byte
}

// typesIn returns one line for each type that occurs in a log.
func typesIn(t *testing.T, lines [][]byte) (all []typed) {
	t.Helper()
	for i, text := range lines {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		var line any
		if d.Decode(&line) != nil {
			continue
		}
		eachType(line, func(what string, set func(string)) {
			set(unheard)
			text, err := json.Marshal(line)
			if err != nil {
				t.Fatal(err)
			}
			set(strings.TrimPrefix(what[strings.LastIndexByte(what, '=')+1:], "="))
			all = append(all, typed{i, what, text})
		})
	}
	return all
}

// eachType finds the type of each record, content block, item, span, and event. Types inside inputs
// and results of tools are not types of records.
func eachType(v any, take func(what string, set func(string))) {
	switch x := v.(type) {
	case []any:
		for _, y := range x {
			eachType(y, take)
		}
	case map[string]any:
		if kind, ok := x["type"].(string); ok {
			take("type="+kind, func(s string) { x["type"] = s })
		}
		switch key, _ := x["key"].(string); key {
		case "gen_ai.operation.name", "openinference.span.kind", "event.name":
			if value, ok := x["value"].(map[string]any); ok {
				if word, ok := value["stringValue"].(string); ok {
					take(key+"="+word, func(s string) { value["stringValue"] = s })
				}
			}
		}
		for _, name := range []string{
			"message", "content", "payload", "item", "data", "attachment", "messages", "parts", "$set",
			"resourceSpans", "batches", "scopeSpans", "instrumentationLibrarySpans", "spans", "resourceLogs", "scopeLogs", "logRecords", "attributes",
		} {
			if x["type"] == "tool_result" && name == "content" {
				continue
			}
			eachType(x[name], take)
		}
	}
}

// amountsOf returns the counts in a draft and the lengths of its lists, indexed by place. Entries
// of redactions describe values in the draft itself, and do not count actions.
func amountsOf(t *testing.T, d any) map[string]float64 {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(asText(t, d)), &v); err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	delete(v, "redactions")
	metadata, _ := v["metadata"].(map[string]any)
	for _, name := range []string{"unreported", "at_least", "at_most", "estimated", "ignored_records", "contradictions"} {
		delete(metadata, name)
	}
	addAmounts(all, "", v)
	return all
}

func addAmounts(all map[string]float64, at string, v any) {
	switch x := v.(type) {
	case float64:
		all[at] = x
	case []any:
		all[at] = float64(len(x))
		if at == "/cost/provider_breakdown" { // indexed by model, regardless of position
			for _, y := range x {
				addAmounts(all, fmt.Sprint(at, "/", y.(map[string]any)["model"]), y)
			}
		}
	case map[string]any:
		for name, y := range x {
			addAmounts(all, at+"/"+name, y)
		}
	}
}

// listed reports whether a list contains a location or a location that encloses it.
func listed(list map[string]bool, at string) bool {
	for ; at != ""; at = at[:strings.LastIndexByte(at, '/')] {
		if list[at] {
			return true
		}
	}
	return false
}

// TestUnreadOneDeed verifies that the draft marks its lists as possibly incomplete if the only
// action in a log has an unknown form.
func TestUnreadOneDeed(t *testing.T) {
	const line = `{"timestamp":"2026-04-25T10:00:02Z","type":"response_item","payload":{"type":"image_generation_call","id":"ig_1","status":"completed"}}`
	for name, log := range map[string][]string{
		"a record of Codex":   {rollout, line},
		"an event of Codex":   {rollout, strings.NewReplacer("response_item", "event_msg", "image_generation_call", "teleport_end").Replace(line)},
		"a line of Codex":     {rollout, strings.Replace(line, `"type":"response_item"`, `"type":"teleport"`, 1)},
		"an item of a run":    {`{"type":"thread.started","thread_id":"t"}`, `{"type":"item.completed","item":{"id":"i","type":"teleport"}}`},
		"a line of Claude":    {answered, `{"type":"teleport","sessionId":"s","timestamp":"2026-04-25T10:00:04Z"}`},
		"a block of Claude":   {answered, `{"type":"assistant","sessionId":"s","message":{"id":"m9","role":"assistant","content":[{"type":"teleport","id":"t9"}]}}`},
		"progress of Claude":  {answered, `{"type":"progress","sessionId":"s","data":{"type":"teleport_progress"}}`},
		"a line of a stream":  {`{"type":"system","subtype":"init","session_id":"s"}`, `{"type":"teleport","session_id":"s"}`},
		"an event of Copilot": {strings.TrimSpace(events()), strings.TrimSpace(strings.SplitN(events("tool.teleport {}"), "\n", 3)[1])},
		"a part of OpenCode":  {`{"info":{"id":"s"},"messages":[{"info":{"id":"m","role":"assistant"},"parts":[{"id":"p","type":"teleport"}]}]}`},
		"a message of Gemini": {`{"sessionId":"s","projectHash":"h"}`, `{"id":"g","type":"teleport","timestamp":"2026-01-01T00:00:00Z"}`},
		"a record of Gemini":  {`{"sessionId":"s","projectHash":"h"}`, `{"$teleport":{}}`},
		"a step of ATIF":      {`{"schema_version":"ATIF-v1.7","session_id":"s","agent":{"name":"a"},"steps":[{"step_id":1,"source":"teleport"}]}`},
		"a line of Pi":        {`{"type":"session","id":"s","cwd":"/w"}`, `{"type":"teleport","id":"x"}`},
		"a message of Pi":     {`{"type":"session","id":"s","cwd":"/w"}`, `{"type":"message","message":{"role":"teleport"}}`},
		"a block of Pi":       {`{"type":"session","id":"s","cwd":"/w"}`, `{"type":"message","message":{"role":"assistant","content":[{"type":"teleport","id":"x"}]}}`},
		"a span":              {export(spanOf{ids: `"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00000000000000a1",`, start: `"1777111200000000000"`, end: `"1777111201000000000"`, operation: "teleport"})},
		"an event":            {`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1767225600000000000","attributes":[{"key":"event.name","value":{"stringValue":"teleport"}}]}]}]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := toldOf(t, log)
			for _, at := range []string{"/side_effects/tool_calls", "/side_effects/fs_writes", "/side_effects/network_egress", "/autonomy_budget/consumed/tool_calls"} {
				if !r.untold[at] || !r.floor[at] {
					t.Errorf("%s is stated in full: %s", at, asText(t, r.Draft))
				}
			}
			ignored, _ := r.meta["ignored_records"].(map[string]any)
			if len(ignored) != 1 {
				t.Errorf("ignored records are %v, expected one type", ignored)
			}
		})
	}
}
