package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A mill creates signed receipts that have the same issuer.
type mill struct {
	*testing.T
}

func newMill(t *testing.T) *mill {
	t.Helper()
	return &mill{t}
}

// make returns an unsigned receipt whose predecessor is head.
func (m *mill) make(workspace, id string, n int, head chain.Head) *receipt.Sealed {
	m.Helper()
	d := corpusDraft(n)
	d.ReceiptID, d.Issuer.ID, d.Identifiers.WorkspaceRef = id, "harness_example_cloud", workspace
	sealed, err := receipt.Seal(d, head)
	if err != nil {
		m.Fatal(err)
	}
	return sealed
}

// by adds a signature with a key from the fixtures.
func (m *mill) by(key string, sealed *receipt.Sealed) *receipt.Sealed {
	m.Helper()
	data := readFixture(m, "keys/"+key+".private.json")
	private, err := keys.ParsePrivate(data)
	if err != nil {
		m.Fatal(err)
	}
	signer := keys.NewSigner(private, func() time.Time { return time.Date(2026, 4, 26, 0, 0, 0, 0, time.UTC) })
	if sealed, err = sealed.Sign(context.Background(), signer); err != nil {
		m.Fatal(err)
	}
	return sealed
}

// zeroGenesis replaces the predecessor of a receipt with the zero hash, and updates the receipt's
// hash.
func (m *mill) zeroGenesis(sealed *receipt.Sealed) []byte {
	m.Helper()
	hash := sealed.Hash().String()
	doc := bytes.Replace(sealed.JSON(), []byte(`"previous_receipt_hash":null`), []byte(`"previous_receipt_hash":"sha256:`+strings.Repeat("0", 64)+`"`), 1)
	preimage := bytes.Replace(doc, []byte(`,"receipt_hash":"`+hash+`"`), nil, 1)
	preimage = regexp.MustCompile(`,"signatures":\[[^]]*\]`).ReplaceAll(preimage, nil)
	canonical, err := canon.Transform(preimage)
	if err != nil || len(preimage)+len(`,"receipt_hash":""`)+len(hash) > len(doc) {
		m.Fatalf("%s: %v", preimage, err)
	}
	return bytes.Replace(doc, []byte(hash), []byte(canon.Sum(canonical).String()), 1)
}

// A grist contains the receipts from which cases are assembled: complete streams, and receipts with
// one fault each.
type grist struct{ streams, odd [][][]byte }

func (m *mill) grist() *grist {
	m.Helper()
	const trusted = "key_2026_04"
	g := &grist{}
	var heads [][]chain.Head
	var unsigned [][]*receipt.Sealed
	for _, workspace := range []string{"w1", "w2", "w3"} {
		var list [][]byte
		var own []chain.Head
		var plain []*receipt.Sealed
		head := chain.Head{}
		for i := range 6 {
			sealed := m.make(workspace, fmt.Sprintf("%s_%d", workspace, i), i, head)
			head = sealed.Head()
			list, own, plain = append(list, m.by(trusted, sealed).JSON()), append(own, head), append(plain, sealed)
		}
		g.streams, heads, unsigned = append(g.streams, list), append(heads, own), append(unsigned, plain)
	}
	for i, list := range g.streams {
		w := fmt.Sprint("w", i+1)
		signed := func(id string, n int, head chain.Head) []byte { return m.by(trusted, m.make(w, id, n, head)).JSON() }
		nowhere := chain.Head{Hash: canon.Sum([]byte("nowhere")), Count: 3}
		fork := m.by(trusted, m.make(w, w+"_fork", 2, heads[i][1]))
		g.odd = append(g.odd,
			[][]byte{fork.JSON(), signed(w+"_behind", 3, fork.Head())},
			[][]byte{signed(w+"_second", 0, chain.Head{})},
			[][]byte{signed(w+"_lost", 3, nowhere)},
			[][]byte{signed(w+"_far", 3, heads[(i+1)%3][2])},
			[][]byte{signed(w+"_2", 7, heads[i][5])},
			[][]byte{m.zeroGenesis(m.make(w, w+"_zero", 0, chain.Head{}))},
			[][]byte{m.make(w, w+"_6", 6, heads[i][5]).JSON()},
			[][]byte{m.by("key_stranger", m.make(w, w+"_6", 6, heads[i][5])).JSON()},
			[][]byte{bytes.Replace(list[3], []byte(`"total":0`), []byte(`"total":1`), 1)},
			[][]byte{bytes.Replace(list[0], []byte(`"total":0`), []byte(`"total":1`), 1)},
			[][]byte{bytes.Replace(list[4], []byte(`"signature":"base64:`), []byte(`"signature":"base64:AAAA`), 1)},
			[][]byte{unsigned[i][2].JSON()}, [][]byte{m.by("key_stranger", unsigned[i][3]).JSON()},
			[][]byte{[]byte(`{"schema":"receipt-2099-01-01"}`)}, [][]byte{[]byte(`{"a":`)})
		for k, odd := range g.odd[len(g.odd)-7 : len(g.odd)-4] {
			if bytes.Equal(odd[0], list[[]int{3, 0, 4}[k]]) {
				m.Fatalf("nothing was altered in %s", odd[0])
			}
		}
	}
	return g
}

// draw returns the lines of a randomly assembled case.
func (g *grist) draw(r *rand.Rand) (list [][]byte) {
	for _, s := range g.streams[:1+r.IntN(3)] {
		from := 0
		if r.IntN(4) == 0 {
			from = r.IntN(len(s))
		}
		for k := from; k < len(s); k++ {
			if r.IntN(30) == 0 {
				continue // a gap
			}
			list = append(list, s[k])
			if r.IntN(40) == 0 {
				list = append(list, s[r.IntN(k+1)]) // a copy
			}
		}
	}
	for r.IntN(3) == 0 {
		list = slices.Insert(list, r.IntN(len(list)+1), g.odd[r.IntN(len(g.odd))]...)
	}
	return list
}

// A handful is the set of files that one run verifies.
type handful struct {
	files   []string
	partial bool
}

// deal distributes lines among files, and files among parts.
func deal(t *testing.T, r *rand.Rand, dir string, list [][]byte) (parts []handful) {
	t.Helper()
	n := 1 + r.IntN(4)
	lines, inRuns := make([][][]byte, n+1), r.IntN(2) == 0
	for i, line := range list {
		at := r.IntN(n)
		if inRuns {
			at = i * n / len(list)
		}
		lines[at] = append(lines[at], line)
	}
	if r.IntN(3) == 0 && len(list) > 0 { // two parts contain the same receipts, in the same order
		from := r.IntN(len(list))
		lines[n] = append(lines[n], list[from:from+1+r.IntN(min(4, len(list)-from))]...)
	}
	mixed := r.IntN(3)
	for i, own := range lines {
		if len(own) == 0 && r.IntN(8) > 0 {
			continue
		}
		p := handful{partial: mixed == 1 || mixed == 2 && r.IntN(2) == 0}
		for k, at := 0, 0; k == 0 || at < len(own); k++ {
			end := len(own)
			if r.IntN(3) == 0 {
				end = at + (len(own)-at+1)/2
			}
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.jsonl", i, k))
			writeFile(t, path, append(bytes.Join(own[at:end], []byte("\n")), '\n'))
			p.files, at = append(p.files, path), end
		}
		r.Shuffle(len(p.files), func(i, j int) { p.files[i], p.files[j] = p.files[j], p.files[i] })
		parts = append(parts, p)
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return parts
}

// verify verifies a part, and writes the report in a randomly chosen format.
func (p *handful) verify(t *testing.T, r *rand.Rand, trust []string, report string) (path string, code int) {
	t.Helper()
	args := append([]string{"verify", "--jobs", "1"}, trust...)
	if p.partial {
		args = append(args, "--partial")
	}
	format := []string{"json", "ndjson"}[r.IntN(2)]
	path = report + "." + format
	if r.IntN(2) == 0 {
		code, _, _ = command(nil, append(append(args, "--quiet", "--report", path), p.files...)...)
	}
	if _, err := os.Stat(path); err != nil { // there is no file if nothing could be read; only stdout has a report
		var out string
		code, out, _ = command(nil, append(append(args, "--format", format), p.files...)...)
		writeFile(t, path, out)
	}
	return path, code
}

// fold merges reports in a random order, some of them in intermediate steps.
func fold(t *testing.T, r *rand.Rand, dir string, reports []string) (code int, out string) {
	t.Helper()
	reports = slices.Clone(reports)
	r.Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
	for n := 0; len(reports) > 2 && r.IntN(2) == 0; n++ {
		path := filepath.Join(dir, fmt.Sprintf("merged-%d-%d.json", n, r.Uint64()))
		if _, _, stderr := command(nil, append([]string{"merge", "--format", "json", "-o", path}, reports[:2]...)...); stderr != "" {
			t.Fatal(stderr)
		}
		reports = append(reports[2:], path)
	}
	code, out, stderr := command(nil, append([]string{"merge", "--format", "json"}, reports...)...)
	if stderr != "" {
		t.Fatal(stderr)
	}
	return code, out
}

// summaryIn returns the summary in a report, which is the last line if the report is NDJSON.
func summaryIn(t *testing.T, text []byte) canon.Node {
	t.Helper()
	if lines := bytes.Split(bytes.TrimSpace(text), []byte("\n")); bytes.HasPrefix(lines[len(lines)-1], []byte("{")) {
		text = lines[len(lines)-1]
	}
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return doc.Root().Member("summary")
}

// countsIn returns the counts in a summary. A merge counts a receipt as in its part and adds findings
// about the whole input; if there are any (drawn), only the counts that do not depend on this remain.
func countsIn(summary canon.Node, drawn bool) string {
	names := []string{"receipts", "copies", "streams"}
	if !drawn {
		names = append(names, "verified", "refuted", "undecided", "codes")
	}
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s %s ", name, summary.Member(name).Raw())
	}
	return b.String()
}

// TestMergeRandomly verifies that merging the reports of overlapping parts gives the same verdict,
// exit code, and counts as a single verification of all parts, whose files may be in any order. The
// receipts have all kinds of faults. The merged verdict may also be undecided if some parts, but not
// all, are selections.
// RECEIPT_MERGE_CASES sets the number of cases.
func TestMergeRandomly(t *testing.T) {
	cases := testsize.Of(20, 100, 300)
	if n, err := strconv.Atoi(os.Getenv("RECEIPT_MERGE_CASES")); err == nil {
		cases = n
	}
	g := newMill(t).grist()
	r := rand.New(rand.NewPCG(7, 12))
	seen := map[string]int{}
	for n := range cases {
		dir := t.TempDir()
		trust := []string{"--keys", trustedKeys}
		if r.IntN(3) == 0 {
			trust = []string{"--integrity-only"}
		}
		if r.IntN(3) == 0 {
			trust = append(trust, "--strict")
		}
		parts := deal(t, r, dir, g.draw(r))
		if len(parts) == 0 {
			continue
		}
		var reports []string
		var all handful
		partial, codes := 0, []int{}
		for i := range parts {
			path, code := parts[i].verify(t, r, trust, filepath.Join(dir, fmt.Sprint("part", i)))
			reports, codes, all.files = append(reports, path), append(codes, code), append(all.files, parts[i].files...)
			if parts[i].partial {
				partial++
			}
		}
		code, out := fold(t, r, dir, reports)
		merged := summaryIn(t, []byte(out))
		if again, other := fold(t, r, dir, reports); again != code || countsIn(summaryIn(t, []byte(other)), false) != countsIn(merged, false) {
			t.Fatalf("case %d: exit %d, in another order %d:\n%s\n%s", n, code, again, out, other)
		}
		verdict := merged.Member("verdict").String()
		seen[verdict]++
		// The only effect of a selection is that receipts may be absent. Therefore, a verified
		// result must remain verified if all parts are selections, and a refuted result must remain
		// refuted if no part is a selection.
		all.partial = partial == len(parts) || partial > 0 && verdict == "verified"
		whole, wholeCode := all.verify(t, r, trust, filepath.Join(dir, "whole"))
		mixed := partial > 0 && partial < len(parts) // the input of a single run is either a selection or complete
		if !mixed && code == wholeCode && code != cli.ExitUsage {
			drawn := merged.Member("findings").Len() > 0
			if got, want := countsIn(merged, drawn), countsIn(summaryIn(t, readFile(t, whole)), drawn); got != want {
				t.Fatalf("case %d in %q: merged\n%s\none run\n%s", n, dir, got, want)
			}
		}
		if len(all.files) > 1 { // one file is ordered, and several are joined by links
			r.Shuffle(len(all.files), func(i, j int) { all.files[i], all.files[j] = all.files[j], all.files[i] })
			again, code := all.verify(t, r, trust, filepath.Join(dir, "again"))
			if a, b := countsIn(summaryIn(t, readFile(t, whole)), false), countsIn(summaryIn(t, readFile(t, again)), false); code != wholeCode || a != b {
				t.Fatalf("case %d in %q: exit %d, with the files in another order %d:\n%s\n%s", n, dir, wholeCode, code, a, b)
			}
		}
		if wholeCode == code || mixed && code == cli.ExitUndecided || code == cli.ExitUsage && wholeCode == cli.ExitRefuted {
			continue
		}
		t.Fatalf("case %d in %q: %d of %d parts are partial and end with %v, merged with %d, one run with %d",
			n, dir, partial, len(parts), codes, code, wholeCode)
	}
	t.Log(seen)
	for _, verdict := range []string{"verified", "refuted", "undecided"} {
		if seen[verdict] < cases/20 {
			t.Errorf("%d of %d cases are %s", seen[verdict], cases, verdict)
		}
	}
}
