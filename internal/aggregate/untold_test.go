package aggregate

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

const silent = `{"metadata":{%q:[%s]},"lifecycle":{"completed_at":"1970-01-01T00:00:00Z"},"approvals":[{"decision":"approved"},{"decision":"denied"}],
"cost":{"currency":"USD","total":1,"provider_breakdown":[{"provider":"p","model":"m","amount":0,"input_tokens":5,"output_tokens":0}]},
"side_effects":{"fs_writes":[],"network_egress":[{"bytes_sent":7}],"tool_calls":[],"a2a_handoffs":[]}}`

// TestSilence verifies that unreported values are counted as missing and contribute to no sum, bin,
// or name, and that nothing is missing if all values are reported.
func TestSilence(t *testing.T) {
	for listed, parts := range map[string][]string{
		``: {`"1970-01-01T00:00:00Z","empty":0,"verified":1`, `"untimed":0`, `"bytes_sent":"7","egress":1`, `"approved":1,"denied":1`, `"provider":"p"`,
			`"cost":{"USD":"0"},"input_tokens":"5","output_tokens":"0","untold":0}`, `"cost":{"USD":"1"}`, `"untold":{"cost":0,"files":0,"egress":0,"tool_calls":0,"handoffs":0,"approvals":0}`},
		`"/lifecycle/completed_at"`:                    {`"bins":[],"untimed":1`, `"bins":[],"left_out":{"hash":0,"copies":0,"currency":0,"time":1`},
		`"/approvals/0/decision"`:                      {`"approved":0,"denied":1`, `"approvals":1}`},
		`"/side_effects/network_egress/0"`:             {`"bytes_sent":"0","egress":0`, `"egress":1,"tool_calls"`},
		`"/cost/currency"`:                             {`"currencies":[]`, `"cost":{}}`, `"untold":{"cost":1`},
		`"/cost/provider_breakdown/0/amount"`:          {`"untold":0,"cost_untold":1}`},
		`"/cost/provider_breakdown/0/provider"`:        {`"provider":""`},
		`"/cost/provider_breakdown/0/model"`:           {`"provider":"p","model":""`},
		`"/cost/provider_breakdown/0/output_tokens"`:   {`"output_tokens":"0","untold":1}`},
		`"/cost/provider_breakdown/0","/cost/totals"`:  {`"provider":"p"`, `"untold":{"cost":0`},
		`"/approvals/0/actor","/side_effects/network"`: {`"approved":1,"denied":1`, `"egress":0,"tool_calls":0,"handoffs":0,"approvals":0}`},
	} {
		wants(t, aggregated(t, listing(t, "unreported", listed)), parts...)
	}
}

// TestBounds verifies that sums that include an upper bound are marked.
func TestBounds(t *testing.T) {
	for listed, part := range map[string]string{
		`"/cost/provider_breakdown/0/amount"`:        `"untold":0,"cost_over":1}`,
		`"/cost/provider_breakdown/0/input_tokens"`:  `"untold":0,"over":1}`,
		`"/cost/provider_breakdown/0/output_tokens"`: `"untold":0,"over":1}`,
		`"/cost/provider_breakdown"`:                 `"untold":0},"other"`,
		`"/cost/total"`:                              `"at_most":1,"reckoned":0}`,
	} {
		wants(t, aggregated(t, listing(t, "at_most", listed)), part)
	}
}

// listing returns a verified receipt whose metadata contains a list of pointers under the given
// name.
func listing(t *testing.T, name, pointers string) seen {
	t.Helper()
	return sound(t, fmt.Appendf(nil, silent, name, pointers))
}

// TestNoCost verifies that unreported costs have no sum, not even 0, and that the reported parts of
// a cost are added.
func TestNoCost(t *testing.T) {
	src := fmt.Appendf(nil, silent, "unreported", `"/cost/total"`)
	free := bytes.Replace(src, []byte(`"total":1`), []byte(`"total":0`), 1)
	wants(t, aggregated(t, sound(t, free)), `"totals":{"verified":{"receipts":1,`, `"timeout":0},"cost":{}},"other"`, `"untold":{"cost":1`)
	wants(t, aggregated(t, sound(t, src), sound(t, free)), `"timeout":0},"cost":{"USD":"1"}},"other"`, `"untold":{"cost":2`)
	wants(t, aggregated(t, sound(t, bytes.Replace(free, []byte("/cost/total"), []byte("/cost/other"), 1))), `"timeout":0},"cost":{"USD":"0"}},"other"`)
}

// sound returns a verified receipt with the given content.
func sound(t *testing.T, src []byte) seen {
	t.Helper()
	doc, err := canon.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	rep := &receipt.Report{Verdict: receipt.Verified, Scope: receipt.ScopeFull, ReceiptHash: canon.Sum(src)}
	for _, s := range []receipt.Step{receipt.StepParse, receipt.StepSchema, receipt.StepHash} {
		rep.Checks = append(rep.Checks, receipt.Check{Step: s, Status: receipt.StatusPassed})
	}
	return seen{rep, doc.Root()}
}
