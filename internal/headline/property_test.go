package headline_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/internal/headline"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// TestFixtures verifies the numbers in the headline of every fixture.
func TestFixtures(t *testing.T) {
	m, err := fixtures.Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, c := range m.Cases {
		text, err := fixtures.Read(c.File)
		if err != nil {
			t.Fatal(err)
		}
		if checked(t, c.File, text) {
			seen++
		}
	}
	if seen < 100 {
		t.Errorf("found %d receipts", seen)
	}
}

// TestPublicLogs verifies that each number in the headline for a published log equals an
// independent count of distinct items.
func TestPublicLogs(t *testing.T) {
	seen, repeated := 0, 0
	for _, name := range []string{"sources", "sources-2"} {
		dir := filepath.Join(vectors.Root(t), name)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && path == dir {
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || !strings.Contains(filepath.Base(path), ".json") {
				return err
			}
			text, err := drafted(path)
			if err != nil {
				return nil // no recorder supports this log
			}
			seen++
			if checked(t, path, text); strings.Contains(sentence(t, text), " writes") {
				repeated++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d logs, %d of which write a file more than once", seen, repeated)
	if seen < 30 || repeated < 3 {
		t.Errorf("found %d logs, %d of which write a file more than once", seen, repeated)
	}
}

// drafted returns the draft that is recorded from a log.
func drafted(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := source.Read([]source.Input{{Name: filepath.Base(path), Reader: f}}, source.Options{Options: record.Options{Issuer: receipt.Issuer{ID: "i", Kind: "agent"}, IssuedAt: time.Unix(1777144653, 0)}})
	if err != nil {
		return nil, err
	}
	return record.JSON(d.Draft)
}

// TestGenerated verifies the numbers in the headlines of 1,000 random receipts.
func TestGenerated(t *testing.T) {
	n := testsize.Of(1000, 4_000, 20_000)
	random := rand.New(rand.NewPCG(27, 1))
	for i := range n {
		text, err := json.Marshal(randomReceipt(random))
		if err != nil {
			t.Fatal(err)
		}
		if !checked(t, fmt.Sprint("receipt ", i), text) || t.Failed() {
			t.Fatalf("%s", text)
		}
	}
}

// randomReceipt returns a receipt with repeated paths, hosts, and calls. Some are withheld, and
// some are listed as unreported, possible, or too many.
func randomReceipt(random *rand.Rand) map[string]any {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	entries := func(most int, entry func() map[string]any) []any {
		list := []any{}
		for range random.IntN(most) {
			list = append(list, entry())
		}
		return list
	}

	effects := map[string]any{
		"fs_writes": entries(12, func() map[string]any {
			return map[string]any{"path": pick("a", "b", "src/c.go", "d", "É", "a/[redacted]", "e", "f"), "operation": pick("create", "modify", "delete")}
		}),
		"network_egress": entries(12, func() map[string]any {
			e := map[string]any{"destination": pick("a.example", "A.EXAMPLE", "a.example:443", "https://a.example/x?y", "https://u:p@b.example:8080/z", "c.example", "[2001:db8::1]:80", "2001:db8::1", "[redacted]"), "purpose": "p"}
			if random.IntN(3) > 0 {
				e["bytes_sent"] = random.IntN(5000)
			}
			return e
		}),
		"tool_calls": entries(12, func() map[string]any {
			return map[string]any{"tool": pick("t", "u"), "call_id": pick("1", "2", "3", "4", "5", "6"), "status": pick("succeeded", "succeeded", "failed", "canceled", "odd")}
		}),
		"a2a_handoffs": []any{},
	}
	approvals := entries(5, func() map[string]any {
		return map[string]any{"actor": "a", "action": "b", "decision": pick("approved", "approved", "denied", "timeout", "canceled")}
	})

	untold, over := []string{}, []string{}
	for name, list := range effects {
		at := "/side_effects/" + name
		if random.IntN(4) == 0 {
			untold = append(untold, at)
		}
		if random.IntN(8) == 0 {
			over = append(over, at)
		}
		for i := range list.([]any) {
			switch random.IntN(12) {
			case 0:
				untold = append(untold, at+"/"+strconv.Itoa(i))
			case 1:
				untold = append(untold, at+"/"+strconv.Itoa(i)+"/"+pick("path", "destination", "call_id", "status"))
			}
		}
	}
	return map[string]any{
		"subject": map[string]any{"object": "task", "id": "t"}, "identifiers": map[string]any{"task_id": "t"},
		"lifecycle": map[string]any{"final_state": "SUCCEEDED"}, "cost": map[string]any{"total": random.IntN(3), "currency": "USD"},
		"side_effects": effects, "approvals": approvals, "metadata": map[string]any{"unreported": untold, "at_most": over},
	}
}

// sentence returns the headline of a receipt.
func sentence(t *testing.T, text []byte) string {
	t.Helper()
	doc, err := canon.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return headline.Read(doc.Root()).Sentence()
}

// checked compares the numbers in a headline with numbers that are counted independently in the
// JSON text. It reports whether the text is an object.
func checked(t *testing.T, name string, text []byte) bool {
	t.Helper()
	var root map[string]any
	if _, err := canon.Parse(text); err != nil || json.Unmarshal(text, &root) != nil {
		return false
	}
	said, rows := sentence(t, text), rowsOf(t, text)
	if strings.HasSuffix(said, "nothing was executed.") {
		for _, list := range []string{"fs_writes", "network_egress", "tool_calls", "a2a_handoffs"} {
			if n := len(listOf(root, "side_effects", list)); n > 0 {
				t.Errorf("%s: %q, but %s has %d entries", name, said, list, n)
			}
		}
		return true
	}

	c := counter{root, stringsOf(root, "metadata", "unreported"), stringsOf(root, "metadata", "at_most")}
	files := c.count("fs_writes", func(e map[string]any, hidden func(string) bool) string { return named(e, "path", hidden) })
	hosts := c.count("network_egress", func(e map[string]any, hidden func(string) bool) string {
		return hostIn(named(e, "destination", hidden))
	})
	calls := c.count("tool_calls", func(e map[string]any, hidden func(string) bool) string {
		tool, id := named(e, "tool", hidden), named(e, "call_id", hidden)
		if id == "" {
			return fmt.Sprintf("unique %p", e)
		}
		return tool + "\x00" + id
	})
	for _, one := range []struct {
		counted           count
		things, per, noun string
	}{
		{files, `(BOUND)(N) files? changed(?: in (BOUND)(N) writes?)?`, "N", "file changes"},
		{hosts, `(BOUND)(N) requests?(?: to (BOUND)(N) hosts?)?`, "reversed", "requests"},
		{calls, `(BOUND)(N) tool calls?`, "", "tool calls"},
	} {
		number := regexp.MustCompile("[:,] " + strings.NewReplacer("BOUND", "(?:at least |at most |reportedly )?", "N", `\d[\d,]*`).Replace(one.things))
		found := number.FindStringSubmatch(said)
		if found == nil {
			if one.counted.entries > 0 || !one.counted.open || !strings.Contains(rowText(rows, "Not recorded"), one.noun) {
				t.Errorf("%s: %q has no number of %s, and %q does not name them", name, said, one.noun, rowText(rows, "Not recorded"))
			}
			continue
		}
		things, more := one.counted.things()
		wantThings := fmt.Sprint(boundOf(one.counted.open || more, one.counted.over), things)
		wantEntries := fmt.Sprint(boundOf(one.counted.open, one.counted.over), one.counted.entries)
		got := []string{found[1] + strings.ReplaceAll(found[2], ",", "")}
		if len(found) > 3 && found[4] != "" {
			got = append(got, found[3]+strings.ReplaceAll(found[4], ",", ""))
		}
		want := []string{wantThings}
		switch {
		case one.per == "reversed" && one.counted.entries > 0:
			want = []string{wantEntries, wantThings}
		case one.per == "reversed":
			want = []string{"0"}
		case one.per == "N" && things != one.counted.entries:
			want = append(want, wantEntries)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q: %s are %q, want %q", name, said, one.noun, got, want)
		}
	}
	c.checkRows(t, name, rows)

	approved := 0
	for i, e := range listOf(root, "approvals") {
		if m, _ := e.(map[string]any); m["decision"] == "approved" && !slices.Contains(c.untold, fmt.Sprintf("/approvals/%d/decision", i)) {
			approved++
		}
	}
	if found := regexp.MustCompile(`(\d[\d,]*) approvals?\b`).FindStringSubmatch(said); found != nil && numberIn(found[1]) != approved || found == nil && approved > 0 {
		t.Errorf("%s: %q, want %d approvals", name, said, approved)
	}
	return true
}

// A counter counts entries in a decoded receipt.
type counter struct {
	root         map[string]any
	untold, over []string
}

type count struct {
	entries, unnamed int
	names            map[string]bool
	open, over       bool
}

func (c count) things() (n int, more bool) {
	if c.unnamed > 0 && c.entries > 1 {
		return max(len(c.names), 1), true
	}
	return len(c.names) + c.unnamed, false
}

func (c counter) count(list string, name func(map[string]any, func(string) bool) string) count {
	at := "/side_effects/" + list
	n := count{names: map[string]bool{}}
	for _, above := range []string{at, "/side_effects"} {
		n.open = n.open || slices.Contains(c.untold, above)
		n.over = n.over || slices.Contains(c.over, above)
	}
	for i, e := range listOf(c.root, "side_effects", list) {
		place := at + "/" + strconv.Itoa(i)
		if slices.Contains(c.untold, place) {
			n.open = true
			continue
		}
		m, _ := e.(map[string]any)
		n.entries++
		if named := name(m, func(member string) bool { return slices.Contains(c.untold, place+"/"+member) }); named != "" {
			n.names[named] = true
		} else {
			n.unnamed++
		}
	}
	return n
}

func named(e map[string]any, member string, hidden func(string) bool) string {
	text, _ := e[member].(string)
	if hidden(member) || regexp.MustCompile(`\[redacted\]|\[withheld\]|<redacted:|^\(outside the workspace\)$`).MatchString(text) {
		return ""
	}
	return text
}

// hostIn uses package net/url to return the host of a destination.
func hostIn(destination string) string {
	if strings.Count(destination, ":") > 1 && !strings.ContainsAny(destination, "[/") {
		return destination // this is an IPv6 address without brackets
	}
	text := destination
	if !strings.Contains(text, "://") {
		text = "x://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return strings.ToLower(destination)
	}
	return strings.ToLower(u.Hostname())
}

func boundOf(under, over bool) string {
	return map[[2]bool]string{{true, false}: "at least ", {false, true}: "at most ", {true, true}: "reportedly "}[[2]bool{under, over}]
}

func numberIn(text string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	if err != nil {
		return -1
	}
	return n
}

func listOf(root map[string]any, names ...string) []any {
	var value any = root
	for _, name := range names {
		m, _ := value.(map[string]any)
		value = m[name]
	}
	list, _ := value.([]any)
	return list
}

func stringsOf(root map[string]any, names ...string) (list []string) {
	for _, value := range listOf(root, names...) {
		if text, ok := value.(string); ok {
			list = append(list, text)
		}
	}
	return list
}
