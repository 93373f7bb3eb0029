package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

// A planter creates streams that have one fault each.
type planter struct {
	t      *testing.T
	signer receipt.Signer
	lines  map[string][]byte // by ID
	n      int
}

func newPlanter(t *testing.T) *planter {
	t.Helper()
	data := readFixture(t, "keys/key_2026_04.private.json")
	key, err := keys.ParsePrivate(data)
	if err != nil {
		t.Fatal(err)
	}
	signer := keys.NewSigner(key, func() time.Time { return time.Date(2026, 4, 26, 0, 0, 0, 0, time.UTC) })
	return &planter{t: t, signer: signer, lines: map[string][]byte{}}
}

// add seals and signs a receipt whose predecessor is head. The function edit may change the draft
// first.
func (p *planter) add(id, workspace string, head chain.Head, edit func(*receipt.Draft)) (line []byte, next chain.Head) {
	p.t.Helper()
	p.n++
	d := corpusDraft(p.n)
	d.ReceiptID, d.Issuer.ID, d.Identifiers.WorkspaceRef = id, "harness_example_cloud", workspace
	if edit != nil {
		edit(d)
	}
	sealed, err := receipt.Seal(d, head)
	if err == nil {
		sealed, err = sealed.Sign(context.Background(), p.signer)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return append(sealed.JSON(), '\n'), sealed.Head()
}

// stream returns n receipts with the IDs WORKSPACE_1 to WORKSPACE_n.
func (p *planter) stream(workspace string, n int, edit func(i int, d *receipt.Draft)) (lines [][]byte, heads []chain.Head) {
	var head chain.Head
	for i := range n {
		var line []byte
		line, head = p.add(fmt.Sprintf("%s_%d", workspace, i+1), workspace, head, func(d *receipt.Draft) {
			if edit != nil {
				edit(i+1, d)
			}
		})
		lines, heads = append(lines, line), append(heads, head)
	}
	return lines, heads
}

// plantFaults returns streams that have one fault each, and the complete version of the truncated
// stream.
func plantFaults(t *testing.T) (streams [][][]byte, uncut [][]byte) {
	p := newPlanter(t)
	whole, heads := p.stream("whole", 12, func(i int, d *receipt.Draft) {
		d.Cost.Total, d.ModelRoute.ChosenModel.Model = float64(i)/4, []string{"large", "small"}[i%2]
		in, out := int64(100*i), int64(10*i)
		d.AutonomyBudget.Consumed.InputTokens, d.AutonomyBudget.Consumed.OutputTokens = &in, &out
		switch i {
		case 5: // unreported values
			d.Cost.Total, *d.AutonomyBudget.Consumed.InputTokens = 0, 0
			d.Metadata = receipt.Object{"unreported": []any{"/autonomy_budget/consumed/input_tokens", "/cost/total"}}
		case 7: // partly reported values
			d.Metadata = receipt.Object{"unreported": []any{"/cost/total"}}
		case 9:
			d.Lifecycle.FinalState = "FAILED"
			d.Lifecycle.Failure = receipt.Object{"code": "x", "message": "y"}
		}
	})
	streams = append(streams, whole, [][]byte{whole[3]}) // a copy of one receipt

	gap, _ := p.stream("gap", 6, nil)
	streams = append(streams, slices.Delete(gap, 2, 3))

	fork, at := p.stream("fork", 5, nil)
	other, _ := p.add("fork_4b", "fork", at[2], nil)
	streams = append(streams, fork, [][]byte{other})

	firsts, _ := p.stream("firsts", 3, nil)
	second, _ := p.add("firsts_again", "firsts", chain.Head{}, nil)
	streams = append(streams, firsts, [][]byte{second})

	ids, _ := p.stream("ids", 2, nil)
	taken, _ := p.add("ids_1", "ids_other", chain.Head{}, nil)
	streams = append(streams, ids, [][]byte{taken})

	altered, _ := p.stream("altered", 5, nil)
	altered[2] = bytes.Replace(altered[2], []byte(`"total":0`), []byte(`"total":9`), 1)
	streams = append(streams, altered)

	unknown, _ := p.stream("unknown", 3, nil)
	unknown[1] = bytes.ReplaceAll(unknown[1], []byte("key_2026_04"), []byte("key_nobody"))
	streams = append(streams, unknown)

	strange, _ := p.add("strange_1", "strange", heads[11], nil)
	streams = append(streams, [][]byte{strange})

	uncut, _ = p.stream("cut", 5, nil)
	return append(streams, uncut[:4]), uncut
}

// sqlBlocks returns the named queries from docs/sql.md and their names, in order.
func sqlBlocks(t *testing.T) (names []string, queries map[string]string) {
	t.Helper()
	page := readFile(t, "../../docs/sql.md")
	queries = map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^<!-- sql: (\\w+) -->\n```sql\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		names, queries[m[1]] = append(names, m[1]), m[2]
	}
	if fences := strings.Count(string(page), "```sql"); fences != len(queries) || fences < 10 {
		t.Fatalf("%d queries, of which %d are named", fences, len(queries))
	}
	return names, queries
}

// duckdb returns the directory of the engine, which .ci/run fetches, and skips the test without it.
func duckdb(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("DUCKDB")
	if dir == "" {
		t.Skip("DUCKDB names no folder of @duckdb/node-api, which the step sql of .ci/run fetches")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Fatal(err) // the engine was requested
	}
	return dir
}

// ask runs queries in a directory, and returns the rows of each.
func ask(t *testing.T, engine, dir string, list []string) (answers [][][]any) {
	t.Helper()
	script := absolute(t, "testdata/duckdb.mjs")
	in, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", script)
	cmd.Dir, cmd.Stdin, cmd.Stderr, cmd.Env = dir, bytes.NewReader(in), os.Stderr, append(os.Environ(), "DUCKDB="+engine, "TZ=Pacific/Kiritimati")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// A sqlFolder is a directory with tables.
type sqlFolder struct {
	t   *testing.T
	dir string
}

func (f sqlFolder) write(name string, text []byte) (path string) {
	f.t.Helper()
	path = filepath.Join(f.dir, name)
	writeFile(f.t, path, text)
	return path
}

// verify writes a table, and returns the exit code.
func (f sqlFolder) verify(report string, args ...string) int {
	f.t.Helper()
	code, _, stderr := command(nil, append([]string{"verify", "--keys", trustedKeys, "--quiet", "--report", filepath.Join(f.dir, report)}, args...)...)
	if stderr != "" {
		f.t.Fatalf("%q: %s", args, stderr)
	}
	return code
}

// fill assigns the receipts to parts, and creates tables: one of all parts, one of each part (some
// together with the next part, so that they overlap), and one of an earlier day.
func (f sqlFolder) fill() (parts []string) {
	const n = 10
	streams, uncut := plantFaults(f.t)
	files := make([][]byte, n)
	for s, lines := range streams {
		for i, line := range lines {
			files[(s+i)%n] = append(files[(s+i)%n], line...)
		}
	}
	for i, text := range files {
		parts = append(parts, f.write(fmt.Sprintf("part-%02d.jsonl", i), text))
	}

	if code := f.verify("earlier.csv", f.write("earlier.jsonl", bytes.Join(uncut, nil))); code != 0 {
		f.t.Fatalf("exit %d", code)
	}
	if code := f.verify("verdicts.csv", parts...); code != 1 {
		f.t.Fatalf("exit %d", code)
	}
	if err := os.Mkdir(filepath.Join(f.dir, "rows"), 0o700); err != nil {
		f.t.Fatal(err)
	}
	for i, part := range parts {
		list := []string{"--partial", part}
		if i%3 == 0 {
			list = append(list, parts[(i+1)%n])
		}
		f.verify(fmt.Sprintf("rows/%02d.csv", i), list...)
	}
	return parts
}

// TestSQL verifies that the queries of docs/sql.md find exactly the planted faults, in the table of
// one run and in those of overlapping parts that were verified separately.
func TestSQL(t *testing.T) {
	engine := duckdb(t)
	names, queries := sqlBlocks(t)
	f := sqlFolder{t, t.TempDir()}
	parts := f.fill()

	wanted := sqlAnswers()
	wanted["once"], wanted["convert"] = []string{}, []string{`"44"`} // rows
	for name := range wanted {
		if !slices.Contains(names, name) {
			t.Errorf("docs/sql.md has no query %q", name)
		}
	}

	// Verdicts belong to the run that wrote them, which did not see the other parts.
	ofRuns := []string{"convert", "counts", "whole", "unsigned", "copies", "cost", "tiers", "days"}
	for _, table := range []string{"verdicts.csv", "rows/*.csv"} {
		var asked, list []string
		for _, name := range names {
			if table == "verdicts.csv" || !slices.Contains(ofRuns, name) {
				asked, list = append(asked, name), append(list, strings.ReplaceAll(queries[name], "'verdicts.csv'", "'"+table+"'"))
			}
		}
		for i, answer := range ask(t, engine, f.dir, list) {
			got, want := linesOf(f.dir, answer), wanted[asked[i]]
			if !slices.Equal(slices.Compact(slices.Clone(got)), want) || table == "verdicts.csv" && len(got) != len(want) {
				t.Errorf("%s of %s:\n%s\nwant\n%s", asked[i], table, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}

	// The command finds the same number of faults.
	f.verify("whole.json", append([]string{"--report-only", "summary"}, parts...)...)
	if got, want := codesOf(t, filepath.Join(f.dir, "whole.json")), map[string]int{"chain_break": 3, "chain_fork": 1, "duplicate_id": 1, "hash_mismatch": 1, "unknown_key": 1}; !maps.Equal(got, want) {
		t.Errorf("verify finds %v, want %v", got, want)
	}
	followsDamage(t, engine)
}

// followsDamage verifies that a receipt that names an altered one is accepted as its successor,
// even if they state different streams, because the stream may have been altered.
func followsDamage(t *testing.T, engine string) {
	t.Helper()
	f, p := sqlFolder{t, t.TempDir()}, newPlanter(t)
	a, heads := p.stream("a", 4, nil)
	a[2] = bytes.Replace(a[2], []byte(`"total":0`), []byte(`"total":9`), 1)
	b, _ := p.stream("b", 1, nil)
	behind, _ := p.add("b_behind", "b", heads[2], nil)
	path := f.write("all.jsonl", slices.Concat(a[0], a[1], a[2], a[3], b[0], behind))
	f.verify("verdicts.csv", "--unordered", "--report", filepath.Join(f.dir, "all.json"), path)

	_, queries := sqlBlocks(t)
	if got := ask(t, engine, f.dir, []string{queries["once"], queries["findings"]})[1]; len(got) > 0 {
		t.Errorf("found %v", got)
	}
	if got, want := codesOf(t, filepath.Join(f.dir, "all.json")), map[string]int{"hash_mismatch": 1}; !maps.Equal(got, want) {
		t.Errorf("verify finds %v, want %v", got, want)
	}
}

// TestSQLColumns verifies that the page describes every column.
func TestSQLColumns(t *testing.T) {
	page := readFile(t, "../../docs/sql.md")
	for _, name := range rows.Columns() {
		for _, bound := range []string{"_least", "_most"} {
			if strings.HasSuffix(name, bound) {
				name = "…" + bound
			}
		}
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/sql.md does not mention %s", name)
		}
	}
}

// linesOf formats an answer as lines of JSON, without brackets and the directory.
func linesOf(dir string, answer [][]any) (lines []string) {
	for _, row := range answer {
		text, _ := json.Marshal(row)
		lines = append(lines, strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(string(text), "["), "]"), dir+"/", ""))
	}
	return lines
}

func codesOf(t *testing.T, report string) map[string]int {
	t.Helper()
	data := readFile(t, report)
	var whole struct {
		Summary struct{ Codes map[string]int }
	}
	if err := json.Unmarshal(data, &whole); err != nil {
		t.Fatal(err)
	}
	return whole.Summary.Codes
}

// sqlAnswers returns the expected answers to each query, in the format of linesOf.
func sqlAnswers() map[string][]string {
	return map[string][]string{
		"counts":   {`"verified",null,"37"`, `"refuted","chain_break","3"`, `"refuted","chain_fork","1"`, `"refuted","duplicate_id","1"`, `"refuted","hash_mismatch","1"`, `"undecided","unknown_key","1"`},
		"whole":    {},
		"altered":  {`"part-01.jsonl:4","altered_3"`},
		"unsigned": {`"part-01.jsonl:5","unknown_2","unknown_key"`},
		"copies":   {`"whole_4","2"`},
		"ids":      {`"harness_example_cloud","ids_1","2"`},
		"missing": {`"gap_4","sha256:44261606ae8756093a2e319d6ebf262f69fb68abeae6cc33ad865b758acfdfd0"`,
			`"strange_1","sha256:2e7631818cdac9d3ee4104def639955ffab1c4723d32f578c1157715d054035e"`},
		"elsewhere": {`"strange_1","[\"harness_example_cloud\",null,\"strange\"]","[\"harness_example_cloud\",null,\"whole\"]"`},
		"forks":     {`"sha256:7e91716c626f263525ec0d93d7dadaa16dc7f32bd747f3a524afa970b890a19a",["fork_4","fork_4b"]`},
		"firsts":    {`"[\"harness_example_cloud\",null,\"firsts\"]",["firsts_1","firsts_again"]`},
		"gone":      {`"cut_5","[\"harness_example_cloud\",null,\"cut\"]"`},
		"findings": {
			`"chain_break","firsts_again","[\"harness_example_cloud\",null,\"firsts\"]"`,
			`"chain_break","gap_4","[\"harness_example_cloud\",null,\"gap\"]"`,
			`"chain_break","strange_1","[\"harness_example_cloud\",null,\"strange\"]"`,
			`"chain_fork","fork_4b","[\"harness_example_cloud\",null,\"fork\"]"`,
			`"duplicate_id","ids_1","[\"harness_example_cloud\",null,\"ids_other\"]"`,
		},
		"streams": {
			`"[\"harness_example_cloud\",null,\"altered\"]","5","1","1"`,
			`"[\"harness_example_cloud\",null,\"cut\"]","4","1","1"`,
			`"[\"harness_example_cloud\",null,\"firsts\"]","4","2","2"`,
			`"[\"harness_example_cloud\",null,\"fork\"]","6","1","2"`,
			`"[\"harness_example_cloud\",null,\"gap\"]","5","1","2"`,
			`"[\"harness_example_cloud\",null,\"ids\"]","2","1","1"`,
			`"[\"harness_example_cloud\",null,\"ids_other\"]","1","1","1"`,
			`"[\"harness_example_cloud\",null,\"strange\"]","1","0","1"`,
			`"[\"harness_example_cloud\",null,\"unknown\"]","3","1","1"`,
			`"[\"harness_example_cloud\",null,\"whole\"]","12","1","1"`,
		},
		"cost":  {`"p","large","USD","6",10.5,10.5,"0"`, `"p","m","USD","24",0,0,"0"`, `"p","small","USD","6",6,7.75,"2"`},
		"tiers": {`"act_auto","FAILED","1"`, `"act_auto","SUCCEEDED","35"`},
		"days":  {`"2026-04-25","7300","780","25"`},
	}
}
