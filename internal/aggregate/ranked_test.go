package aggregate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

const ranking = `{"receipt_id":"%d","lifecycle":{"completed_at":"2026-04-25T19:17:33Z"},"cost":{"currency":"USD","total":0.3,"provider_breakdown":[
{"provider":"p","model":"m","amount":0.1,"input_tokens":10,"output_tokens":2},{"provider":"p","model":"n","amount":0.2}]},
"side_effects":{"fs_writes":[{"path":"a"},{"path":"a"},{"path":%q}]}}`

func ranked1(t *testing.T, i int, verdict receipt.Verdict, path, key string) seen {
	t.Helper()
	src := fmt.Appendf(nil, ranking, i, path)
	doc, err := canon.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	s := entry(t, verdict, "", "", "1")
	s.rep.ReceiptHash, s.root = canon.Sum(src), doc.Root()
	if key != "" {
		s.rep.Signatures = []receipt.SignatureResult{{KeyID: key, Status: receipt.SignatureValid, Role: receipt.RoleIssuer}}
	}
	return s
}

// TestRanked verifies that models, keys, and files are counted by name, that verified receipts are
// counted separately, and that unreported values are not counted as 0.
func TestRanked(t *testing.T) {
	got := aggregated(t, ranked1(t, 1, receipt.Verified, "b", "k"), ranked1(t, 2, receipt.Verified, "b", "k"), ranked1(t, 3, receipt.Undecided, "c", ""))
	wants(t, got,
		`"models":{"rows":[{"provider":"p","model":"m","verified":{"entries":2,"cost":{"USD":"0.2"},"input_tokens":"20","output_tokens":"4","untold":0},"other":{"entries":1,"cost":{"USD":"0.1"},"input_tokens":"10","output_tokens":"2","untold":0}},{"provider":"p","model":"n","verified":{"entries":2,"cost":{"USD":"0.4"},"input_tokens":"0","output_tokens":"0","untold":2}`,
		`"keys":{"rows":[{"name":"k","verified":2,"other":0},{"name":"","verified":0,"other":1}],"names":2,"more":0}`,
		`"paths":{"rows":[{"name":"a","verified":4,"other":2},{"name":"b","verified":2,"other":0},{"name":"c","verified":0,"other":1}],"names":3,"more":0}`,
		`"verdicts":{"unit":"hour","bins":[{"from":"2026-04-25T19:00:00Z","empty":0,"verified":2,"refuted":0,"undecided":1}],"untimed":0}`)
}

// TestVerdicts verifies that a refuted receipt is counted at its stated time, but contributes to no
// sum.
func TestVerdicts(t *testing.T) {
	bad := ranked1(t, 1, receipt.Refuted, "b", "k")
	bad.rep.Checks[2].Status = receipt.StatusFailed
	untimed := entry(t, receipt.Refuted, "never", "USD", "1")
	untimed.rep.Checks[2].Status = receipt.StatusFailed
	intact := ranked1(t, 2, receipt.Verified, "b", "k")
	intact.rep.Scope = receipt.ScopeIntegrity
	got := aggregated(t, bad, untimed, intact)
	wants(t, got, `"bins":[{"from":"2026-04-25T19:00:00Z","empty":0,"verified":0,"refuted":1,"undecided":1}],"untimed":1}`, `"verified":{"receipts":0,`)

	var a Aggregate
	for i := range 3000 {
		s := entry(t, receipt.Verified, fmt.Sprintf("%04d-01-01T00:00:00Z", i), "USD", "1")
		a.Add(s.rep, s.root)
	}
	sum := 0
	for _, j := range a.verdicts.bins.bins {
		sum += j.Verified
	}
	if len(a.verdicts.bins.bins) > maxBins || sum != 3000 {
		t.Errorf("%d bins, %d receipts", len(a.verdicts.bins.bins), sum)
	}
}

// TestRankedBounds verifies that the number of names is limited, and that entries with other names
// are counted.
func TestRankedBounds(t *testing.T) {
	var files tally[split]
	for i := range 3 * maxFiles {
		add(&files, files.of(fmt.Sprint("f", i), maxFiles), true, 1)
	}
	add(&files, files.of("f1", maxFiles), true, 1)
	long := files.of(strings.Repeat("x", maxName+1), maxFiles)
	if add(&files, long, true, 1); long != nil {
		t.Error("a name of any length is kept")
	}
	if j := rankedOf(&files); len(j.Rows) != maxListed || j.Rows[0].Name != "f1" || j.Rows[0].Verified != 2 || j.Names != maxFiles || j.More != 2*maxFiles+1 {
		t.Errorf("%d rows, %d names, %d more, %+v", len(j.Rows), j.Names, j.More, j.Rows[0])
	}
}
