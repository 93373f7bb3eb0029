package source_test

import (
	"fmt"
	"strings"
	"testing"
)

// A spanOf describes a span in an export.
type spanOf struct {
	ids        string // JSON members, such as "spanId":"00000000000000a1"
	start, end string // as JSON
	operation  string
	input      int
	more       string // attributes
}

func (x spanOf) String() string {
	pairs := fmt.Sprintf(`{"key":"gen_ai.operation.name","value":{"stringValue":%q}}`, x.operation)
	if x.operation == "chat" {
		pairs += fmt.Sprintf(`,{"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"%d"}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":1}}`, x.input)
	}
	return fmt.Sprintf(`{%s"startTimeUnixNano":%s,"endTimeUnixNano":%s,"attributes":[%s%s]}`, x.ids, x.start, x.end, pairs, x.more)
}

func export(spans ...spanOf) string {
	var list []string
	for _, x := range spans {
		list = append(list, x.String())
	}
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(list, ",") + `]}]}]}`
}

func chat(ids, start, end string, input int) spanOf {
	return spanOf{ids: ids, start: start, end: end, operation: "chat", input: input}
}

// TestSpansWithoutIDs verifies that a model call is counted once, whether or not its span has an
// ID. If calls cannot be distinguished, sums must be lower bounds.
func TestSpansWithoutIDs(t *testing.T) {
	const trace, id = `"traceId":"0af7651916cd43dd8448eb211c80319c",`, `"spanId":"00000000000000a1",`
	const a, b, c, d = `"1777111200000000000"`, `"1777111201000000000"`, `"1777111202000000000"`, `"1777111203000000000"`
	for name, test := range map[string]struct {
		spans []spanOf
		input int64
		floor bool
	}{
		"one behind the other":      {[]spanOf{chat(trace, a, b, 10), chat(trace, b, c, 7)}, 17, false},
		"one of them has an id":     {[]spanOf{chat(trace+id, a, b, 10), chat(trace, b, c, 7)}, 17, false},
		"side by side":              {[]spanOf{chat(trace, a, c, 10), chat(trace, b, d, 7)}, 17, false},
		"the same again":            {[]spanOf{chat(trace, a, b, 10), chat(trace, a, b, 10)}, 10, false},
		"one in the other":          {[]spanOf{chat(trace, a, d, 10), chat(trace, b, c, 10)}, 10, true},
		"one in one with an id":     {[]spanOf{chat(trace+id, a, d, 11), chat(trace, b, c, 10)}, 10, true},
		"one with an id in one":     {[]spanOf{chat(trace, a, d, 11), chat(trace+id, b, c, 10)}, 10, true},
		"three":                     {[]spanOf{chat(trace, b, c, 10), chat(trace, a, d, 10), chat(trace, a, c, 10)}, 10, true},
		"at one time":               {[]spanOf{chat(trace, a, b, 10), chat(trace, a, b, 7)}, 7, true},
		"of two traces":             {[]spanOf{chat(trace, a, d, 10), chat(strings.Replace(trace, "0a", "0b", 1), b, c, 7)}, 17, false},
		"no times":                  {[]spanOf{chat(trace+id, a, b, 10), chat(trace, "0", `"0"`, 7)}, 10, true},
		"no times, alone":           {[]spanOf{chat(trace, "0", `"0"`, 7)}, 7, false},
		"ids of zeros":              {[]spanOf{chat(`"spanId":"0000000000000000",`, a, b, 10), chat(`"spanId":"AAAAAAAAAAA=",`, b, c, 7)}, 17, false},
		"two of one id":             {[]spanOf{chat(trace+id, a, b, 10), chat(trace+id, b, c, 7)}, 10, true},
		"one id in two traces":      {[]spanOf{chat(trace+id, a, b, 10), chat(id, b, c, 7)}, 17, false},
		"a parent of zeros":         {[]spanOf{chat(trace+id+`"parentSpanId":"0000000000000000",`, a, b, 10)}, 10, false},
		"in itself":                 {[]spanOf{chat(trace+id+`"parentSpanId":"00000000000000a1",`, a, b, 10)}, 10, false},
		"a tool without a name too": {[]spanOf{chat(trace, a, b, 10), {ids: trace, start: b, end: c, operation: "execute_tool"}}, 10, false},
	} {
		log := export(test.spans...)
		r := recorded(t, log)
		claimsNothing(t, []byte(log), r.Draft)
		if got := r.AutonomyBudget.Consumed.InputTokens; got == nil || *got != test.input {
			t.Errorf("%s: %s tokens, want %d", name, show(got), test.input)
		}
		if got := r.floor["/autonomy_budget/consumed/input_tokens"]; got != test.floor {
			t.Errorf("%s: at least: %v, want %v", name, got, test.floor)
		}
	}
}

// TestToolsWithoutIDs verifies that a call is identified by its own ID or by the ID of its span,
// and that a call that has neither is counted but not listed.
func TestToolsWithoutIDs(t *testing.T) {
	const named = `,{"key":"gen_ai.tool.name","value":{"stringValue":"find"}}`
	tool := func(ids, more string) spanOf {
		return spanOf{ids: ids, start: `"1777111200000000000"`, end: `"1777111201000000000"`, operation: "execute_tool", more: named + more}
	}
	for name, test := range map[string]struct {
		span spanOf
		call string // "" is none
	}{
		"an id of its own":      {tool("", `,{"key":"gen_ai.tool.call.id","value":{"stringValue":"c1"}}`), "c1"},
		"in hexadecimal digits": {tool(`"spanId":"00F067AA0BA902B7",`, ""), "span:00f067aa0ba902b7"},
		"in base64":             {tool(`"spanId":"APBnqgupArc=",`, ""), "span:00f067aa0ba902b7"},
		"in base64, unpadded":   {tool(`"spanId":"APBnqgupArc",`, ""), "span:00f067aa0ba902b7"},
		"in base64 of URLs":     {tool(`"spanId":"__BnqgupArc=",`, ""), "span:fff067aa0ba902b7"},
		"made up":               {tool(`"spanId":"span-001",`, ""), "span:span-001"},
		"a UUID":                {tool(`"spanId":"550e8400-e29b-41d4-a716-446655440000",`, ""), "span:550e8400-e29b-41d4-a716-446655440000"},
		"none":                  {tool("", ""), ""},
		"zeros":                 {tool(`"spanId":"0000000000000000",`, ""), ""},
		"a number":              {tool(`"spanId":7,`, ""), ""},
		"longer than any id is": {tool(`"spanId":"`+strings.Repeat("x", 65)+`",`, ""), ""},
	} {
		log := export(test.span, chat(`"spanId":"00000000000000a1",`, `"1777111200000000000"`, `"1777111201000000000"`, 1))
		r := recorded(t, log)
		claimsNothing(t, []byte(log), r.Draft)
		got := ""
		for _, c := range r.SideEffects.ToolCalls {
			got += c.CallID
		}
		if got != test.call || r.floor["/side_effects/tool_calls"] != (test.call == "") {
			t.Errorf("%s: call %q, want %q; at least: %v", name, got, test.call, r.floor)
		}
	}
}

// TestTimesOfSpans verifies that times may be numbers or strings that contain numbers. If a time is
// missing, zero, or invalid, the beginning and the end of the task are unknown.
func TestTimesOfSpans(t *testing.T) {
	const id = `"spanId":"00000000000000a1",`
	for name, test := range map[string]struct {
		start, end  string
		began, over string // "" if the draft does not state the time
	}{
		"texts":                  {`"1777111200000000000"`, `"1777111201500000000"`, "2026-04-25T10:00:00Z", "2026-04-25T10:00:01.5Z"},
		"numbers":                {`1777111200000000000`, `1777111201500000000`, "2026-04-25T10:00:00Z", "2026-04-25T10:00:01.5Z"},
		"floating-point numbers": {`1.7771112e18`, `1777111201500000000.0`, "2026-04-25T10:00:00Z", "2026-04-25T10:00:01.5Z"},
		"no end":                 {`"1777111200000000000"`, `"0"`, "", ""},
		"no beginning":           {`0`, `"1777111200000000000"`, "", ""},
		"less than none":         {`-5`, `"1777111200000000000"`, "", ""},
		"more than there is":     {`"99999999999999999999"`, `1e300`, "", ""},
		"words":                  {`"soon"`, `null`, "", ""},
		"a date":                 {`"2026-04-25T10:00:00Z"`, `{}`, "", ""},
	} {
		log := export(chat(id, test.start, test.end, 1))
		r := recorded(t, log)
		claimsNothing(t, []byte(log), r.Draft)
		for at, pair := range map[string][2]string{"/lifecycle/started_at": {test.began, r.Lifecycle.StartedAt.String()}, "/lifecycle/completed_at": {test.over, r.Lifecycle.CompletedAt.String()}} {
			if pair[0] != "" && pair[0] != pair[1] || r.untold[at] != (pair[0] == "") {
				t.Errorf("%s: %s is %s, want %q; unreported: %v", name, at, pair[1], pair[0], r.untold[at])
			}
		}
	}
}
