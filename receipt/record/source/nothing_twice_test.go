package source_test

import (
	"strings"
	"testing"
)

// TestNothingTwice: a message and a span count once, also where what would name them cannot
// be read.
func TestNothingTwice(t *testing.T) {
	const a, b, c, d = `"1777111200000000000"`, `"1777111201000000000"`, `"1777111202000000000"`, `"1777111203000000000"`
	const trace, one, two = `"traceId":"0af7651916cd43dd8448eb211c80319c",`, `"spanId":"00000000000000a1",`, `"spanId":"00000000000000a2",`
	block := func(id string) string {
		return strings.Replace(answered, `"id":"m1"`, `"id":`+id, 1)
	}
	for name, test := range map[string]struct {
		lines []string
		input int64
		floor bool
	}{
		"a message in two lines":          {[]string{block(`"m1"`), strings.Replace(block(`"m1"`), `"type"`, `"uuid":"u2","type"`, 1)}, 3, false},
		"one of them without its id":      {[]string{block(`"m1"`), strings.Replace(block(`7`), `"type"`, `"uuid":"u2","requestId":"q","type"`, 1)}, 3, true},
		"a result without its session":    {[]string{began, spoke, strings.Replace(accounted, `"session_id":"s"`, `"session_id":7`, 1)}, 100, false},
		"a line without its session":      {[]string{began, strings.Replace(spoke, `"session_id":"s"`, `"session_id":7`, 1), accounted}, 100, false},
		"the first line without it":       {[]string{began[:1] + `"uuid":"x",` + strings.Replace(began, `"session_id":"s"`, `"session_id":""`, 1)[1:], spoke, accounted}, 100, false},
		"a parent that cannot be read":    {[]string{export(chat(trace+one, a, d, 10), chat(trace+two+`"parentSpanId":7,`, b, c, 10))}, 10, true},
		"a trace that cannot be read":     {[]string{export(chat(trace+one, a, d, 10), chat(`"traceId":7,`+two+`"parentSpanId":"00000000000000a1",`, b, c, 10))}, 10, true},
		"a trace that names none, alone":  {[]string{export(chat(one, a, d, 10), chat(two, b, c, 7))}, 17, false},
		"a trace that names none, beside": {[]string{export(chat(trace+one, a, b, 10), chat(two, b, c, 7))}, 17, false},
	} {
		r := toldOf(t, test.lines)
		if got := r.AutonomyBudget.Consumed.InputTokens; got == nil || *got != test.input {
			t.Errorf("%s: %s tokens, want %d", name, show(got), test.input)
		}
		if got := r.floor["/autonomy_budget/consumed/input_tokens"]; got != test.floor {
			t.Errorf("%s: at least: %v, want %v", name, got, test.floor)
		}
	}
}
