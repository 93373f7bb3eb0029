package rows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

func verifier(t testing.TB) *receipt.Verifier {
	t.Helper()
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true, NoInputDigest: true})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// tableOf verifies an input and returns its rows. The last rows describe the summary.
func tableOf(t testing.TB, input []byte) (list []rows.Row) {
	t.Helper()
	run := stream.VerifyFiles(context.Background(), verifier(t), []stream.Source{stream.From("in.jsonl", bytes.NewReader(input))}, stream.Options{Extract: rows.Extract})
	for rep := range run.Reports() {
		list = append(list, rows.Of(rep))
	}
	sum, _ := run.Summary()
	return append(list, rows.About(sum)...)
}

// told returns the values in a row, without NULL values.
func told(r rows.Row) map[string]string {
	m, cells := map[string]string{}, r.AppendCells(nil)
	for i, name := range rows.Columns() {
		if cells[i] != "" {
			m[name] = cells[i]
		}
	}
	return m
}

func equal(t *testing.T, name string, got, want map[string]string) {
	t.Helper()
	for column := range want {
		if got[column] != want[column] {
			t.Errorf("%s: %s is %q, want %q", name, column, got[column], want[column])
		}
	}
	for column := range got {
		if _, there := want[column]; !there {
			t.Errorf("%s: %s is %q, want NULL", name, column, got[column])
		}
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := fixtures.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRow verifies each column for a receipt that has all values.
func TestRow(t *testing.T) {
	list := tableOf(t, fixture(t, "valid/task.json"))
	if len(list) != 1 {
		t.Fatalf("%d rows", len(list))
	}
	const hash = "sha256:e2d20233f0fdc386669846ea0007728f361fdd66052d085a460d90ba0875ff3e"
	equal(t, "task", told(list[0]), map[string]string{
		"source": "in.jsonl", "index": "1", "verdict": "intact", "receipt_id": "receipt_01K0TASK", "receipt_hash": hash, "kind": "receipt", "address": "in.jsonl",
		"stream": `["harness_example_cloud","tenant_example","workspace_garden"]`, "issuer": "harness_example_cloud", "tenant": "tenant_example", "workspace": "workspace_garden",
		"stated_hash": hash, "first": "true", "issued_at": "2026-04-25T19:17:33Z",
		"task": "task_01K0TASK", "session": "session_01K0", "state": "SUCCEEDED", "start_tier": "act_with_approval", "end_tier": "act_with_approval",
		"provider": "example-ai", "model": "coder-5", "currency": "USD", "cost": "0.1842", "input_tokens": "1800", "output_tokens": "420", "unreported": "0",
	})
}

// edited returns a receipt with different metadata and numbers, which was sealed again.
func edited(t testing.TB, edit func(map[string]any)) []byte {
	t.Helper()
	var receiptOf map[string]any
	if err := json.Unmarshal(fixture(t, "valid/task.json"), &receiptOf); err != nil {
		t.Fatal(err)
	}
	edit(receiptOf)
	delete(receiptOf, "signatures")
	text, err := json.Marshal(receiptOf)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := chain.Hash(doc)
	if err != nil {
		t.Fatal(err)
	}
	receiptOf["chain"].(map[string]any)["receipt_hash"] = hash.String()
	text, err = json.Marshal(receiptOf)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAbsentIsNotZero verifies that a number that is absent or was not recorded by the source is
// NULL, and that a partially recorded number is a bound.
func TestAbsentIsNotZero(t *testing.T) {
	list := func(names ...string) []any {
		var l []any
		for _, n := range names {
			l = append(l, n)
		}
		return l
	}
	tests := map[string]struct {
		cost               float64
		unreported, atMost []any
		want               [3]string // cost, cost_least, cost_most
	}{
		"told":             {1.5, nil, nil, [3]string{"1.5", "", ""}},
		"zero":             {0, nil, nil, [3]string{"0", "", ""}},
		"not told":         {0, list("/cost/total"), nil, [3]string{"", "", ""}},
		"within another":   {0, list("/cost"), nil, [3]string{"", "", ""}},
		"at least":         {1.5, list("/cost/total"), nil, [3]string{"", "1.5", ""}},
		"at most":          {1.5, nil, list("/cost/total"), [3]string{"", "", "1.5"}},
		"neither":          {1.5, list("/cost/total"), list("/cost/total"), [3]string{"", "", ""}},
		"another not told": {1.5, list("/cost/totals", "/approvals"), nil, [3]string{"1.5", "", ""}},
	}
	for name, test := range tests {
		text := edited(t, func(r map[string]any) {
			r["cost"].(map[string]any)["total"] = test.cost
			metadata := map[string]any{}
			if test.unreported != nil {
				metadata["unreported"] = test.unreported
			}
			if test.atMost != nil {
				metadata["at_most"] = test.atMost
			}
			r["metadata"] = metadata
		})
		got := told(tableOf(t, text)[0])
		if got["verdict"] != "intact" {
			t.Fatalf("%s: %v", name, got)
		}
		if found := [3]string{got["cost"], got["cost_least"], got["cost_most"]}; found != test.want {
			t.Errorf("%s: %q, want %q", name, found, test.want)
		}
		if want := fmt.Sprint(len(test.unreported)); got["unreported"] != want {
			t.Errorf("%s: unreported %q, want %s", name, got["unreported"], want)
		}
	}
}

// TestUntoldTexts verifies that a placeholder for a string that was not recorded is also NULL.
func TestUntoldTexts(t *testing.T) {
	for pointer, columns := range map[string][]string{
		"/identifiers/task_id": {"task"}, "/identifiers/session_id": {"session"}, "/lifecycle/final_state": {"state"},
		"/trust/start_tier": {"start_tier"}, "/trust/end_tier": {"end_tier"}, "/trust": {"start_tier", "end_tier"},
		"/model_route/chosen_model": {"provider", "model"}, "/model_route/chosen_model/model": {"model"},
		"/cost/currency": {"currency"}, "/cost": {"currency", "cost"},
		"/autonomy_budget/consumed/input_tokens": {"input_tokens"}, "/autonomy_budget/consumed/output_tokens": {"output_tokens"},
	} {
		whole := told(tableOf(t, fixture(t, "valid/task.json"))[0])
		got := told(tableOf(t, edited(t, func(r map[string]any) {
			r["metadata"] = map[string]any{"unreported": []any{pointer}}
			for _, at := range []string{"total"} {
				r["cost"].(map[string]any)[at] = 0
			}
			consumed := r["autonomy_budget"].(map[string]any)["consumed"].(map[string]any)
			consumed["input_tokens"], consumed["output_tokens"] = 0, 0
		}))[0])
		for column := range whole {
			_, there := got[column]
			if want := !slices.Contains(columns, column); there != want {
				t.Errorf("%s: %s is there: %t, want %t", pointer, column, there, want)
			}
		}
	}

	// Members that the format treats as optional may be omitted.
	got := told(tableOf(t, edited(t, func(r map[string]any) {
		delete(r["identifiers"].(map[string]any), "tenant_id")
		r["autonomy_budget"] = map[string]any{"consumed": map[string]any{}}
	}))[0])
	for _, column := range []string{"tenant", "input_tokens", "output_tokens"} {
		if text, there := got[column]; there {
			t.Errorf("%s is %q, want NULL", column, text)
		}
	}
	if want := `["harness_example_cloud",null,"workspace_garden"]`; got["stream"] != want {
		t.Errorf("stream %s, want %s", got["stream"], want)
	}
}

// TestOnlyWhatFits verifies that the row for a document that does not match the schema contains no
// content, but contains the position that the document states, if any. For a document that is not a
// receipt, the row contains neither.
func TestOnlyWhatFits(t *testing.T) {
	text := bytes.TrimSpace(fixture(t, "valid/task.json"))
	wrong := bytes.Replace(text, []byte(`"final_state":"SUCCEEDED"`), []byte(`"final_state":"sk-ant-api03-Zx9Qw8Er7Ty6"`), 1)
	other := bytes.Replace(text, []byte(`"schema":"receipt-2026-04-25"`), []byte(`"schema":"receipt-2031-01-01"`), 1)
	list := tableOf(t, slices.Concat(text, []byte("\n"), wrong, []byte("\n"), other, []byte("\n{\"a\":1}\n[\n")))
	if len(list) != 5 {
		t.Fatalf("%d rows: %v", len(list), list)
	}
	for i, want := range []struct {
		code           string
		place, content bool
	}{{"", true, true}, {"schema_invalid", true, false}, {"unsupported_schema", false, false}, {"not_a_receipt", false, false}, {"syntax", false, false}} {
		got := told(list[i])
		_, place := got["stream"]
		_, content := got["state"]
		if got["code"] != want.code || place != want.place || content != want.content || got["index"] != fmt.Sprint(i+1) || got["kind"] != "receipt" {
			t.Errorf("row %d: %v, want %+v", i, got, want)
		}
		if _, unreported := got["unreported"]; unreported != want.content {
			t.Errorf("row %d: %v", i, got)
		}
	}
}

// TestAbout verifies that information about an input is in separate rows, and never in the columns
// of a receipt.
func TestAbout(t *testing.T) {
	tenant := chain.Stream{Issuer: "a", Tenant: "", HasTenant: true, Workspace: `w"`}
	sum := &stream.Summary{
		Findings:   []stream.Finding{{Code: receipt.CodeTruncated, Stream: &tenant, Detail: "gone"}, {Code: "proof_invalid", Source: "x.proof", Detail: "false"}},
		NotChecked: []receipt.Note{{Code: receipt.CodeEvidenceUnused, Detail: "unused"}, {Code: receipt.CodeTailNotChecked, Detail: "as ever"}},
		Inputs:     stream.Inputs{Unreadable: []stream.Notice{{Source: "b.gz", Detail: "damaged"}}},
	}
	want := []map[string]string{
		{"kind": "finding", "verdict": "refuted", "code": "truncated", "detail": "gone", "stream": `["a","","w\""]`, "issuer": "a", "workspace": `w"`},
		{"kind": "finding", "verdict": "refuted", "code": "proof_invalid", "detail": "false", "source": "x.proof"},
		{"kind": "note", "verdict": "undecided", "code": "evidence_unused", "detail": "unused"},
		{"kind": "input", "verdict": "not read", "source": "b.gz", "detail": "damaged"},
	}
	list := rows.About(sum)
	if len(list) != len(want) {
		t.Fatalf("%d rows, want %d", len(list), len(want))
	}
	for i := range want {
		equal(t, fmt.Sprint(i), told(list[i]), want[i])
	}

	// A run that was stopped is not complete, and a complete run has no additional row.
	equal(t, "stopped", told(rows.About(&stream.Summary{})[0]), map[string]string{"kind": "input", "verdict": "not read", "detail": "the inputs were not read to their end"})
	if list := rows.About(&stream.Summary{Complete: true}); len(list) != 0 {
		t.Errorf("%v", list)
	}
}

// TestTextsAreBounded verifies that the length of foreign strings is limited, and that different
// strings remain different, even if one imitates a truncated string.
func TestTextsAreBounded(t *testing.T) {
	long := strings.Repeat("é", 200_000)
	seen := map[string]string{}
	add := func(id string) string {
		text := edited(t, func(r map[string]any) {
			r["receipt_id"] = id
			r["issuer"].(map[string]any)["id"] = id
			r["identifiers"].(map[string]any)["workspace_ref"] = id
			r["model_route"].(map[string]any)["chosen_model"].(map[string]any)["model"] = id
		})
		row := tableOf(t, text)[0]
		for i, cell := range row.AppendCells(nil) {
			if len(cell) > 1200 || !utf8.ValidString(cell) || rows.Columns()[i] != "stream" && len(cell) > 340 {
				t.Errorf("%s has %d bytes", rows.Columns()[i], len(cell))
			}
		}
		got := told(row)
		if got["receipt_id"] != got["issuer"] || got["issuer"] != got["model"] {
			t.Errorf("one text is cut in different ways: %v", got)
		}
		for _, column := range []string{"receipt_id", "stream"} {
			if before, there := seen[got[column]]; there {
				t.Errorf("%d and %d bytes have the same %s", len(before), len(id), column)
			}
			seen[got[column]] = id
		}
		return got["receipt_id"]
	}

	cut := add(long)
	add(long + "a")
	add(cut)
	if whole := strings.Repeat("a", 256); add(whole) != whole {
		t.Error("256 bytes are cut")
	}
	if whole := strings.Repeat("a", 257); add(whole) == whole {
		t.Error("257 bytes are not cut")
	}

	// A file name may contain bytes that are not valid text.
	rep := &receipt.Report{Source: "a\xff.json", Index: 1}
	if got := told(rows.Of(rep)); got["source"] != `a\xff.json` || got["address"] != `a\xff.json` {
		t.Errorf("%q", got)
	}
}

// TestColumns verifies that column names do not change, because users' queries depend on them.
func TestColumns(t *testing.T) {
	want := strings.Fields("source index verdict code pointer receipt_id receipt_hash detail kind address stream issuer tenant workspace stated_hash previous first issued_at " +
		"task session state start_tier end_tier provider model currency cost cost_least cost_most input_tokens input_tokens_least input_tokens_most output_tokens output_tokens_least output_tokens_most unreported")
	if got := rows.Columns(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// FuzzRow verifies that the row for any document consists of text of limited length, and that
// unrecorded values are absent.
func FuzzRow(f *testing.F) {
	for _, name := range []string{"valid/full.json", "valid/minimal.json", "valid/task.json"} {
		f.Add(fixture(f, name))
	}
	f.Add([]byte(`{"schema":"receipt-2026-04-25","issuer":{"id":7},"identifiers":{"tenant_id":null},"chain":{"previous_receipt_hash":null,"receipt_hash":"sha256:` + strings.Repeat("0", 64) + `"}}`))
	v := verifier(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, rep := new(canon.Document), &receipt.Report{Source: "in"}
		v.VerifyBytes(text, doc, rep)
		if rep.Check(receipt.StepParse).Status != receipt.StatusPassed {
			return
		}
		rep.Extracted = rows.Extract(doc, rep, rep.Extracted)
		row := rows.Of(rep)
		for i, cell := range row.AppendCells(nil) {
			if len(cell) > 2200 || !utf8.ValidString(cell) {
				t.Fatalf("%s: %q", rows.Columns()[i], cell)
			}
		}
		if row.Cost != nil && receipt.ReadUnreported(doc.Root()).Has("/cost/total") {
			t.Fatal("a cost that was not reported")
		}
		if _, placed := chain.LinkOf(doc); (row.Stream != "") != (placed && doc.Root().Member("schema").String() == receipt.SchemaMarker) {
			t.Fatalf("placed %t, stream %q", placed, row.Stream)
		}
	})
}
