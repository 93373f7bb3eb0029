package result

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"text/template"
)

func TestMet(t *testing.T) {
	for _, c := range []struct {
		line Line
		met  bool
	}{
		{Line{Bound: Least, Must: 2, Seen: 2}, true},
		{Line{Bound: Least, Must: 2, Seen: 1.99}, false},
		{Line{Bound: Least, Must: 2, Seen: 3, Absent: true}, false},
		{Line{Bound: Most, Must: 2, Seen: 2}, true},
		{Line{Bound: Most, Must: 2, Seen: 2.01}, false},
		{Line{Bound: Most, Must: 2, Absent: true}, false},
		{Line{Bound: Most}, true},
		{Line{Absent: true}, true},
	} {
		if c.line.Met() != c.met {
			t.Errorf("%+v: met %t", c.line, !c.met)
		}
		if n := len(Missed([]Line{c.line})); (n == 0) != c.met {
			t.Errorf("%+v: %d missed", c.line, n)
		}
	}
}

func TestTable(t *testing.T) {
	got := Table(Rows([]Line{
		{Measure: "verify, × naive", Bound: Least, Must: 12, Seen: 17.04, Worst: 9, Unit: "×"},
		{Measure: "memory", Bound: Most, Must: 64, Seen: 65.5, Worst: 65.5, Unit: "MiB", Note: "1.11 GB"},
		{Measure: "allocations", Bound: Most},
		{Measure: "node", Absent: true, Note: "no node"},
	}))
	want := `
measure             must          seen     worst  met
verify, × naive     ≥ 12 ×      17.0 ×       9 ×  yes
memory           ≤ 64 MiB  65.5 MiB  65.5 MiB   NO  1.11 GB
allocations           ≤ 0             0         0  yes
node                       not measured                no node
`
	if squeeze(got) != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var widths []int
	for line := range strings.Lines(got) {
		widths = append(widths, len([]rune(line[:strings.LastIndex(line, "  ")+1])))
	}
	if len(widths) != 5 {
		t.Errorf("%d lines:\n%s", len(widths), got)
	}
}

// squeeze replaces the spaces between cells with a single space.
func squeeze(s string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimSpace(s)) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// TestTableAligns verifies that the first and the last column are aligned on the left and that all
// other columns are aligned on the right.
func TestTableAligns(t *testing.T) {
	got := Table([][]string{{"a", "bb", "c", ""}, {"×××", "1", "10 ×", "note"}})
	want := "a    bb     c\n×××   1  10 ×  note\n"
	if got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestMarkdown(t *testing.T) {
	got := Markdown([][]string{{"a", "b", "c"}, {"1", "2", "3"}})
	if want := "| a | b | c |\n|---|---:|---:|\n| 1 | 2 | 3 |\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNumber(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 12: "12", 0.1567: "0.16", 9.999: "10.00", 12.34: "12.3", 123.4: "123"} {
		if got := Number(f); got != want {
			t.Errorf("%v is written %s, expected %s", f, got, want)
		}
	}
	if got := Round(123.4567); got != 123.5 {
		t.Errorf("rounded to %v", got)
	}
}

// TestGuard verifies that a result may be worse than the recorded value by at most 30 %, for either
// direction of a bound, and that a line that exists on only one side is reported.
func TestGuard(t *testing.T) {
	least := func(id string, seen float64) Line { return Line{ID: id, Bound: Least, Seen: seen} }
	most := func(id string, seen float64) Line { return Line{ID: id, Bound: Most, Seen: seen} }
	bounded := most("bounded", 1)
	bounded.Must = 2
	higher := bounded
	higher.Seen = 2
	tooHigh := bounded
	tooHigh.Seen = 2.01
	recorded := []Line{least("ratio", 10), most("growth", 2), most("allocations", 0), bounded}
	good := []Line{least("ratio", 10), most("growth", 2), most("allocations", 0), bounded}
	replaced := func(l Line) []Line {
		list := append([]Line{}, good...)
		for i := range list {
			if list[i].ID == l.ID {
				list[i] = l
			}
		}
		return list
	}
	absent := least("ratio", 10)
	absent.Absent = true
	for _, c := range []struct {
		name   string
		seen   []Line
		failed string
	}{
		{"the same", good, ""},
		{"29 % less", replaced(least("ratio", 7.1)), ""},
		{"31 % less", replaced(least("ratio", 6.9)), "ratio"},
		{"more", replaced(least("ratio", 100)), ""},
		{"29 % less worth, where less is better", replaced(most("growth", 2/0.71)), ""},
		{"31 % less worth, where less is better", replaced(most("growth", 2/0.69)), "growth"},
		{"an allocation where there was none", replaced(most("allocations", 1)), "allocations"},
		{"half the worth, but below the bound", replaced(higher), ""},
		{"half the worth, and above the bound", replaced(tooHigh), "bounded"},
		{"a line is missing", good[1:], "ratio"},
		{"a line was not measured", replaced(absent), "ratio"},
		{"a line is new", append(good[:4:4], least("new", 1)), "new"},
		{"none", nil, "ratio growth allocations bounded"},
	} {
		var failed []string
		for _, f := range Failed(Guard(recorded, c.seen)) {
			failed = append(failed, f.ID)
		}
		if got := strings.Join(failed, " "); got != c.failed {
			t.Errorf("%s: failed %q, expected %q", c.name, got, c.failed)
		}
	}
}

func TestComparisonRows(t *testing.T) {
	got := Table(ComparisonRows(Guard([]Line{{ID: "a", Bound: Least, Seen: 10}}, []Line{{ID: "a", Bound: Least, Seen: 5}})))
	if want := "line  recorded  seen\na           10     5  lost 50 %\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func example() *Recorded {
	return &Recorded{
		Machine:   Machine{"Some CPU", 2, "linux", "amd64", "go1.26.8"},
		Rounds:    7,
		Receipts:  7000,
		Lines:     []Line{{ID: "a", Measure: "a line", Bound: Least, Must: 2, Seen: 3, Worst: 2.5, Unit: "×"}},
		Canonical: [][]string{{"receipts", "canon MB/s", ""}, {"3 KB", "400", ""}},
		Linear:    []Growth{{"a receipt", "10^3", 12, 1, 1}},
		Profile:   Profile{[]Step{{"parse", 60}}, []Step{{"read", 1}, {"SHA-256, once", 4}}, 15},
	}
}

func TestSaveLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recorded.json")
	if err := example().Save(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil || !reflect.DeepEqual(got, example()) {
		t.Errorf("%v, %+v", err, got)
	}
	if err := os.WriteFile(path, []byte(`{"lines":[],"lnes":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil {
		t.Error("a record with unknown members is read")
	}
}

// TestFill verifies that a template receives all tables, and that the same record always produces
// the same bytes.
func TestFill(t *testing.T) {
	text := template.Must(template.New("").Option("missingkey=error").Parse("{{.Machine}} {{.Rounds}} {{.Receipts}}\n{{.Lines}}{{.Canonical}}{{.Linear}}{{.Steps}}{{.Floor}}{{len .Missed}}"))
	got, err := example().Fill(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Some CPU, 2 cores, linux/amd64, go1.26.8 7 7000\n",
		"| a line | ≥ 2 × | 3 × | 2.50 × | yes |  |\n",
		"| 3 KB | 400 |\n",
		"| a receipt | 10^3 | 12 | 1.00 | 1.00 |\n",
		"| parse | 60.0 |\n",
		"| read and verify | 15.0 | 3 × the floor |\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	again, err := example().Fill(text)
	if err != nil || string(again) != string(got) {
		t.Errorf("the same record gives other bytes: %v", err)
	}
}
