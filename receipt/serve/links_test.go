package serve_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/serve"
	"github.com/receiptkit/receiptkit/receipt/serve/files"
	"github.com/receiptkit/receiptkit/receipt/serve/internal/servetest"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// storedReport requests the report on a stored receipt from a server.
func storedReport(t testing.TB, s *serve.Server, id string) (valid bool, reason string, rep receipt.Report) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/v1/receipts/"+id+"/verify", nil)
	r.Header.Set(version()[0], version()[1])
	s.ServeHTTP(w, r)
	var answer struct {
		Valid   bool
		Reason  string
		Details struct{ Report receipt.Report }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 {
		t.Fatalf("%s: %d %v %s", id, w.Code, err, w.Body)
	}
	return answer.Valid, answer.Reason, answer.Details.Report
}

// TestForkedFolder verifies that, if two receipts have the same predecessor, the later receipt is
// refuted. The command "receipt verify" must have the same result for the same directory.
func TestForkedFolder(t *testing.T) {
	a := signedReceipt(t, receiptDraft("a", "t"))
	later := receiptDraft("c", "t")
	later.IssuedAt = receipt.At(later.IssuedAt.Add(time.Second))
	b, c := signedBehind(t, receiptDraft("b", "t"), servetest.HashOf(a)), signedBehind(t, later, servetest.HashOf(a))
	for name, files := range map[string]map[string][]byte{
		"a file each": {"a.json": a, "b.json": b, "c.json": c},
		"one file":    {"all.jsonl": servetest.Lines(a, b, c)},
		"compressed":  {"all.jsonl.gz": servetest.Gzip(t, servetest.Lines(a, b, c))},
	} {
		o := options(t)
		o.Source = openFiles(t, files)
		s, err := serve.New(o)
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]string{"a": "true ", "b": "true ", "c": "false refuted: chain_fork: names a predecessor that another stored receipt also names"} {
			if valid, reason, rep := storedReport(t, s, id); fmt.Sprint(valid, " ", reason) != want {
				t.Errorf("%s: %s: %v %s, expected %s\n%+v", name, id, valid, reason, want, rep.Check(receipt.StepLink))
			}
		}
	}
}

// TestOneFolderOneVerdict verifies that the server and the command "receipt verify" have the same
// verdict on a stored receipt if they use the same files, for all kinds of broken chains and all
// ways to divide them into files.
func TestOneFolderOneVerdict(t *testing.T) {
	cases := 150
	if !testsize.Full() {
		cases = 45
	}
	random := rand.New(rand.NewPCG(1, 2))
	judge, err := receipt.NewVerifier(trusted(t), receipt.Policy{Now: noon()})
	if err != nil {
		t.Fatal(err)
	}
	trees := faultyChains(t)
	codes := map[receipt.Code]int{}
	for i := range cases {
		texts := slices.Clone(trees[i%len(trees)])
		held := split(random, texts)
		_, sources := servetest.Files(t, held)
		partial := random.IntN(3) == 0
		f, err := files.Open(context.Background(), files.Options{Partial: partial}, sources...)
		if err != nil {
			t.Fatal(err)
		}
		o := options(t)
		o.Source = f
		s, err := serve.New(o)
		if err != nil {
			t.Fatal(err)
		}
		run := stream.VerifyFiles(context.Background(), judge, sources, stream.Options{Partial: partial})
		seen := map[string]bool{}
		for want := range run.Reports() {
			id := string(want.ReceiptID)
			if id == "" || seen[id] { // the receipt has no ID, so it cannot be requested, or it is a copy
				continue
			}
			seen[id] = true
			valid, _, got := storedReport(t, s, id)
			a, b := got.Check(receipt.StepLink), want.Check(receipt.StepLink)
			if got.Verdict != want.Verdict || valid != (want.Verdict == receipt.Verified) || a.Status != b.Status || a.Code != b.Code || a.Stated != b.Stated || a.Computed != b.Computed {
				t.Fatalf("case %d, %s of %d files, partial %v: %v %+v\nreceipt verify: %v %+v", i, id, len(held), partial, got.Verdict, a, want.Verdict, b)
			}
			codes[a.Code]++
		}
		if len(seen) < 3 {
			t.Fatalf("case %d: %d receipts", i, len(seen))
		}
	}
	for _, code := range []receipt.Code{"", receipt.CodeChainFork, receipt.CodeChainBreak, receipt.CodeLinkNotChecked} {
		if codes[code] == 0 {
			t.Errorf("no receipt had %q: %v", code, codes)
		}
	}
}

// faultyChains returns receipts from two streams for each fault that a chain can have.
func faultyChains(t testing.TB) (list [][][]byte) {
	t.Helper()
	draft := func(id, workspace string) *receipt.Draft {
		d := receiptDraft(id, "t")
		d.Identifiers.WorkspaceRef = workspace
		return d
	}
	var chains [2][][]byte
	for i, workspace := range []string{"v", "w"} {
		var head canon.Digest
		for k := range 6 {
			text := signedBehind(t, draft(fmt.Sprint(workspace, k), workspace), head)
			head = servetest.HashOf(text)
			chains[i] = append(chains[i], text)
		}
	}
	v, w := chains[0], chains[1]
	fork := signedBehind(t, draft("fork", "v"), servetest.HashOf(v[2]))
	forked := signedBehind(t, draft("forked", "v"), servetest.HashOf(fork))
	genesis := signedReceipt(t, draft("genesis", "v"))
	foreign := signedBehind(t, draft("foreign", "v"), servetest.HashOf(w[3]))
	damaged := bytes.Replace(v[3], []byte(`"USD"`), []byte(`"EUR"`), 1)
	with := func(base [][]byte, more ...[]byte) [][]byte { return slices.Concat(base, w, more) }
	return [][][]byte{
		with(v), with(v[:3]), with(v[2:]), with(slices.Delete(slices.Clone(v), 2, 4)), with(v, fork), with(v, fork, forked), with(v[:4], fork, genesis),
		with(v, genesis), with(v, foreign), with(v[:3], damaged, v[4], v[5]), with(v[:3], []byte(`{"receipt_id":`), v[4]), with(v, v[1], w[0]),
		with([][]byte{v[1], v[0], v[3], v[2]}), {v[3], w[3], fork},
	}
}

// split distributes receipts over one or more files in any order.
func split(random *rand.Rand, texts [][]byte) map[string][]byte {
	if random.IntN(2) == 0 {
		random.Shuffle(len(texts), func(i, k int) { texts[i], texts[k] = texts[k], texts[i] })
	}
	parts := 1 + random.IntN(4)
	lines := make([][][]byte, parts)
	for _, text := range texts {
		k := random.IntN(parts)
		lines[k] = append(lines[k], text)
	}
	files := map[string][]byte{}
	for k, list := range lines {
		if len(list) > 0 {
			files[fmt.Sprint("f", k, ".jsonl")] = servetest.Lines(list...)
		}
	}
	return files
}

// logKey returns the key of the log that is trusted in the tests.
func logKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	var jwk struct{ D string }
	if err := json.Unmarshal(fixture(t, "keys/log_1.private.json"), &jwk); err != nil {
		t.Fatal(err)
	}
	seed, err := base64.RawURLEncoding.DecodeString(jwk.D)
	if err != nil {
		t.Fatal(err)
	}
	return ed25519.NewKeyFromSeed(seed)
}

// TestStoredCheckpoint verifies that, with a checkpoint, the server and the command "receipt
// verify" have the same verdict on a stored receipt. This must hold regardless of whether the
// checkpoint covers the receipt, whether a trusted log signed the checkpoint, and whether the
// policy requires a checkpoint.
func TestStoredCheckpoint(t *testing.T) {
	var list [][]byte
	var head canon.Digest
	for i := range 5 {
		text := signedBehind(t, receiptDraft(fmt.Sprint("r", i), "t"), head)
		head = servetest.HashOf(text)
		list = append(list, text)
	}
	demand := receipt.Policy{Checkpoint: receipt.CheckpointRule{Required: true}}
	stranger := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	seen := map[string]int{}
	for name, c := range map[string]struct {
		policy receipt.Policy
		key    ed25519.PrivateKey
	}{
		"trusted": {receipt.Policy{}, logKey(t)}, "stranger": {receipt.Policy{}, stranger},
		"demanded": {demand, logKey(t)}, "demanded of a stranger": {demand, stranger},
	} {
		note := servetest.CheckpointBy(t, c.key, list[:3]...)
		_, sources := servetest.Files(t, map[string][]byte{"a.jsonl": servetest.Lines(list...)})
		f, err := files.Open(context.Background(), files.Options{}, sources...)
		if err != nil {
			t.Fatal(err)
		}
		v := verifierOf(t, c.policy)
		o := options(t)
		o.Verifier, o.Source = func() *serve.Verifier { return v }, f
		if o.Proofs, err = files.NewProofs(f, note); err != nil {
			t.Fatal(err)
		}
		s, err := serve.New(o)
		if err != nil {
			t.Fatal(err)
		}
		c.policy.Now = noon()
		judge, err := receipt.NewVerifier(trusted(t), c.policy)
		if err != nil {
			t.Fatal(err)
		}
		for want := range stream.VerifyFiles(context.Background(), judge, sources, stream.Options{Checkpoint: note}).Reports() {
			valid, reason, got := storedReport(t, s, string(want.ReceiptID))
			a, b := got.Check(receipt.StepBatch), want.Check(receipt.StepBatch)
			if got.Verdict != want.Verdict || valid != (want.Verdict == receipt.Verified) || a.Status != b.Status || a.Code != b.Code {
				t.Errorf("%s, %s: %v %s %+v\nreceipt verify: %v %+v", name, want.ReceiptID, got.Verdict, reason, a, want.Verdict, b)
			}
			seen[got.Verdict.String()+" "+string(a.Code)]++
		}
	}
	if seen["verified "] == 0 || seen["undecided unknown_key"] == 0 || seen["undecided checkpoint_required"] == 0 {
		t.Errorf("%v", seen)
	}
}

// A linkedShelf returns the same Check with every receipt.
type linkedShelf struct {
	serve.Source
	link *receipt.Check
}

func (s linkedShelf) Get(ctx context.Context, id string, reach protocol.Reach) (serve.Stored, error) {
	stored, err := s.Source.Get(ctx, id, reach)
	stored.Link = s.link
	return stored, err
}

// TestSharedLink verifies that requests never modify a Check that a source shares between them.
func TestSharedLink(t *testing.T) {
	o, link := shelved(t), &receipt.Check{Status: receipt.StatusPassed}
	o.Source = linkedShelf{o.Source, link}
	got := start(t, o).post("/v1/receipts/good/verify", "application/json", []byte(`{}`), version()...)
	if got.status != 200 || link.Step != 0 {
		t.Errorf("%d %.300s: %+v", got.status, got.body, link)
	}
}
