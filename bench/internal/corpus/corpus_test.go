package corpus

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
)

func newCorpus(t *testing.T, c Config) *Corpus {
	t.Helper()
	made, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// digest returns the digest of the receipts as lines, which is what sha256sum returns for
// corpus.jsonl.
func digest(t *testing.T, c Config) string {
	t.Helper()
	hash := sha256.New()
	for _, text := range newCorpus(t, c).All() {
		hash.Write(append(text, '\n'))
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// TestFrozen verifies that the bytes for a seed never change, so that measurements from different days
// are comparable.
func TestFrozen(t *testing.T) {
	for _, test := range []struct {
		config Config
		want   string
	}{
		{Config{Receipts: 300, Seed: 1}, "685850011af5882e8ff8a24cefd992742f0d7861636a0088707d96a7874caeaf"},
		{Config{Receipts: 300, Seed: 2}, "30546e4649ae13a3680bdbcea701f92848007c1d30f2ad97d8adf85df4848ddf"},
		{Config{Receipts: 300, Seed: 1, Streams: 7}, "6a41cc73532d0f77df954af37bb250873415802a1dfcc2ae84cf02771f86b8ee"},
		{Config{Receipts: 300, Seed: 1, Kind: Minimal}, "9ff8cbcd6139adce3272746ded72bd7ca52708051beee356312d9351b3dfe8c4"},
	} {
		if got := digest(t, test.config); got != test.want {
			t.Errorf("%+v: sha256 %s, want %s", test.config, got, test.want)
		}
	}
}

func TestProcessorsDoNotShow(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	seen := map[string]bool{}
	for _, n := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(n)
		seen[digest(t, Config{Receipts: 1000, Streams: 3, Seed: 4})] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d different corpora of one seed", len(seen))
	}
}

func trust(t *testing.T, c *Corpus) *keys.Set {
	t.Helper()
	file, err := c.Keys()
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.ParseSet(file)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestReceiptsVerify verifies that every receipt is verified without a warning and signed by one of
// eight keys, and that each key signs receipts.
func TestReceiptsVerify(t *testing.T) {
	for _, config := range []Config{{Receipts: 500, Seed: 1}, {Receipts: 200, Seed: 2, Streams: 9}, {Receipts: 500, Kind: Minimal}} {
		c := newCorpus(t, config)
		v, err := receipt.NewVerifier(trust(t, c), receipt.Policy{})
		if err != nil {
			t.Fatal(err)
		}
		count, signers := 0, map[string]bool{}
		for n, text := range c.All() {
			r, err := v.Open(text)
			if err != nil {
				t.Fatalf("%+v: receipt %d: %v", config, n, err)
			}
			if w := r.Report().Warnings; len(w) != 0 {
				t.Errorf("%+v: receipt %d: warnings %v", config, n, w)
			}
			if !bytes.Equal(r.JSON(), text) {
				t.Errorf("%+v: receipt %d is not canonical", config, n)
			}
			signers[r.Signatures[0].KeyID] = true
			if count++; n != count {
				t.Errorf("%+v: receipt %d has number %d", config, count, n)
			}
		}
		if count != config.Receipts || len(signers) != keyCount {
			t.Errorf("%+v: %d receipts of %d keys", config, count, len(signers))
		}
	}
}

// TestLinks verifies that the receipts of each stream are linked, and that each stream has the expected
// number of receipts.
func TestLinks(t *testing.T) {
	heads, ids := map[chain.Stream]chain.Head{}, map[string]bool{}
	for n, text := range newCorpus(t, Config{Receipts: 1000, Streams: 3}).All() {
		doc, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		stream := chain.StreamOf(doc)
		link, ok := chain.LinkOf(doc)
		head := heads[stream]
		if !ok || link.First != head.IsZero() || link.Previous != head.Hash {
			t.Fatalf("receipt %d of %v: link %+v after %+v", n, stream, link, head)
		}
		heads[stream] = chain.Head{Hash: link.Hash, Count: head.Count + 1}
		ids[doc.Root().Member("receipt_id").String()] = true
	}
	if len(heads) != 3 || len(ids) != 1000 {
		t.Errorf("%d streams, %d receipt ids", len(heads), len(ids))
	}
	for stream, head := range heads {
		if head.Count != 333 && head.Count != 334 {
			t.Errorf("%v has %d receipts", stream, head.Count)
		}
	}
}

// TestSealed verifies that the receipts equal the receipts that the library seals from the same drafts.
func TestSealed(t *testing.T) {
	var head chain.Head
	for n, text := range newCorpus(t, Config{Receipts: 100}).All() {
		doc, err := canon.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		root := doc.Root()
		draft, err := canon.Parse(doc.AppendCanonical(nil, root.Member("chain"), root.Member("signatures")))
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := receipt.SealDocument(draft, head)
		if err != nil {
			t.Fatalf("receipt %d: %v", n, err)
		}
		if link, _ := chain.LinkOf(doc); link.Hash != sealed.Hash() {
			t.Fatalf("receipt %d: hash %v, the library has %v", n, link.Hash, sealed.Hash())
		}
		head = sealed.Head()
	}
	if head.Count != 100 {
		t.Errorf("%d receipts", head.Count)
	}
}

func TestSizes(t *testing.T) {
	sum, count, least, most := 0, 2000, MostBytes, 0
	for n, text := range newCorpus(t, Config{Receipts: count, Seed: 1}).All() {
		if len(text) < LeastBytes || len(text) > MostBytes {
			t.Errorf("receipt %d has %d bytes", n, len(text))
		}
		sum, least, most = sum+len(text), min(least, len(text)), max(most, len(text))
	}
	if mean := sum / count; mean < MeanBytes*95/100 || mean > MeanBytes*105/100 {
		t.Errorf("the mean is %d bytes", mean)
	}
	if least > LeastBytes*11/10 || most < MostBytes*9/10 {
		t.Errorf("from %d to %d bytes only", least, most)
	}
	for n, text := range newCorpus(t, Config{Receipts: 1000, Kind: Minimal}).All() {
		if len(text) < 1_250 || len(text) > 1_350 {
			t.Errorf("minimal receipt %d has %d bytes", n, len(text))
		}
	}
}

// TestKeys verifies that a different seed leads to different keys with the same names.
func TestKeys(t *testing.T) {
	one, two := trust(t, newCorpus(t, Config{Seed: 1})), trust(t, newCorpus(t, Config{Seed: 2}))
	if one.Len() != keyCount || two.Len() != keyCount {
		t.Fatalf("%d and %d keys", one.Len(), two.Len())
	}
	for i, k := range one.Keys() {
		if other := two.Keys()[i]; k.ID != other.ID || k.Thumbprint == other.Thumbprint {
			t.Errorf("key %d: %s %s, %s %s", i, k.ID, k.Fingerprint(), other.ID, other.Fingerprint())
		}
	}
}

// TestStop verifies that no goroutine is left running if a caller stops the iteration early.
func TestStop(t *testing.T) {
	before := runtime.NumGoroutine()
	for n := range newCorpus(t, Config{Receipts: 100_000}).All() {
		if n == 100 {
			break
		}
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i == 1_000_000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		runtime.Gosched()
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{Kind: "medium"}, {Receipts: -1}, {Streams: -1}, {Receipts: 2, Streams: 3}, {Size: -1},
		{Receipts: 9, Damage: []Damage{{0, HarmHash}}}, {Receipts: 9, Damage: []Damage{{10, HarmHash}}},
		{Receipts: 9, Damage: []Damage{{3, HarmHash}, {3, HarmBreak}}},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	for kind, want := range map[Kind]int{"": 100_000, Full: 100_000, Minimal: 1_000_000} {
		if got := (Config{Kind: kind}).filled(); got.Receipts != want || got.Streams != 1 {
			t.Errorf("%q: %d receipts, %d streams", kind, got.Receipts, got.Streams)
		}
	}
}
