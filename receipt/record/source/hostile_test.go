package source_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/fixtures/vectors"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/internal/event"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// samples returns the logs in testdata, and the public logs if they are available.
func samples(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	add := func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) < 200_000 && !bytes.HasPrefix(text, []byte("\x28\xb5\x2f\xfd")) {
			all[filepath.Base(name)] = text
		}
	}
	for _, name := range vectors.Files(t, 3, "testdata", "*.*json*") {
		add(name)
	}
	for _, set := range []string{"sources", "sources-2"} {
		_ = filepath.WalkDir(filepath.Join(vectors.Root(t), set), func(name string, d fs.DirEntry, err error) error {
			if err == nil && strings.Contains(filepath.Base(name), "json") && !strings.HasSuffix(name, ".expected.json") && slices.ContainsFunc(source.Names(), func(kind string) bool { return strings.Contains(name, "/"+set+"/"+kind+"-") }) {
				add(name)
			}
			return nil
		})
	}
	return all
}

// tryRead records a log and returns the draft. It returns nil if the log is rejected for a
// legitimate reason.
func tryRead(t testing.TB, log []byte) *receipt.Draft {
	t.Helper()
	got, err := source.Read([]source.Input{{Name: "log", Reader: bytes.NewReader(log)}}, options())
	var limit *event.LimitError
	switch {
	case err == nil:
		return got.Draft
	case errors.Is(err, source.ErrUnknown), errors.Is(err, source.ErrEmpty), errors.As(err, &limit):
		return nil
	}
	t.Fatalf("%v\n%.500q", err, log)
	return nil
}

// TestHostile verifies that, regardless of how the lines of a log are changed, no draft claims
// anything that is not recorded in a line.
func TestHostile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	cuts, mixtures := testsize.Of(1, 4, 12), testsize.Of(1, 2, 4)
	logs := samples(t)
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		log := logs[name]
		try := func(what string, log []byte) *receipt.Draft {
			t.Helper()
			d := tryRead(t, log)
			if d != nil {
				claimsNothing(t, log, d)
			}
			if t.Failed() {
				t.Fatalf("%s, %s", name, what)
			}
			return d
		}
		lines := bytes.SplitAfter(log, []byte("\n"))
		whole := try("as it is", log)
		if whole == nil {
			t.Fatalf("%s is not read", name)
		}

		for range cuts { // anywhere
			at := random.IntN(len(log))
			try(fmt.Sprint("cut at ", at), log[:at])
			try(fmt.Sprint("from ", at), log[at:])
		}
		for range mixtures {
			mixed := slices.Clone(lines)
			random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			try("out of order", bytes.Join(mixed, []byte("\n")))
			some := slices.DeleteFunc(slices.Clone(lines), func([]byte) bool { return random.IntN(3) == 0 })
			try("with lines missing", bytes.Join(some, nil))
		}
		kind := source.Sight(log).Kind
		if kind != codexExec && filepath.Ext(name) == ".jsonl" { // turns have no IDs in this format, so a repeated turn is another turn
			twice := try("with each line twice", bytes.Join(append(slices.Clone(lines), lines...), nil))
			alike(t, name+" twice", twice, whole)
			alike(t, name+" with CR LF", try("with CR LF", bytes.ReplaceAll(log, []byte("\n"), []byte("\r\n"))), whole)
		}
		try("of another version", bytes.ReplaceAll(log, []byte(`"version":"`), []byte(`"version":"99.`)))
		try("with line separators", bytes.ReplaceAll(log, []byte("e"), []byte("\u2028")))
		try("with other types", bytes.ReplaceAll(log, []byte(`"type":"`), []byte(`"type":"x`)))
		try("with numbers negated", bytes.ReplaceAll(log, []byte(`tokens":`), []byte(`tokens":-`)))
		try("with half a character", bytes.ReplaceAll(log, []byte(`\n`), []byte(`\ud83d`)))
	}
}

// alike verifies that two drafts state the same actions.
func alike(t *testing.T, what string, got, want *receipt.Draft) {
	t.Helper()
	if got == nil {
		t.Fatalf("%s: nothing is reported", what)
	}
	for name, pair := range map[string][2]any{
		"calls": {got.SideEffects.ToolCalls, want.SideEffects.ToolCalls}, "writes": {got.SideEffects.FSWrites, want.SideEffects.FSWrites},
		"cost": {got.Cost.ProviderBreakdown, want.Cost.ProviderBreakdown}, "handoffs": {got.SideEffects.A2AHandoffs, want.SideEffects.A2AHandoffs},
		"state": {got.Lifecycle, want.Lifecycle},
	} {
		if a, b := asText(t, pair[0]), asText(t, pair[1]); a != b {
			t.Errorf("%s: %s\n%s\nwant\n%s", what, name, a, b)
		}
	}
}

// TestAgain verifies that the events recorded from a log lead to the same draft, byte for byte.
func TestAgain(t *testing.T) {
	for name, log := range samples(t) {
		var kept bytes.Buffer
		o := options()
		o.Keep = func(line []byte) error { _, err := kept.Write(line); return err }
		first, err := source.Read([]source.Input{{Name: name, Reader: bytes.NewReader(log)}}, o)
		if err != nil {
			t.Fatal(name, err)
		}
		again, err := record.Read(&kept, options().Options, record.FormEvents)
		if err != nil {
			t.Fatal(name, err)
		}
		if a, b := asText(t, again.Draft), asText(t, first.Draft); a != b {
			t.Errorf("%s: another draft\n%s\nwant\n%s", name, a, b)
		}
	}
}
