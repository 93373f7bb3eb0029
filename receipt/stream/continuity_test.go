package stream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// sumOf returns the JSON form of a summary without its inputs or sources.
func sumOf(t testing.TB, s *stream.Summary) string {
	t.Helper()
	c := *s
	c.Inputs = stream.Inputs{}
	b, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(b), `,"roster":`)
	return text
}

// scatter distributes receipts over files of all kinds. Each file keeps the order of the list, but
// the files are shuffled.
func scatter(t testing.TB, rng *rand.Rand, list [][]byte) (files []stream.Source) {
	t.Helper()
	for i := 0; len(list) > 0; i++ {
		n := 1 + rng.IntN(min(4, len(list)))
		part := list[:n]
		list = list[n:]
		content := jsonl(part...)
		switch k := rng.IntN(7); {
		case n == 1 && k == 0:
			content = pretty(t, part[0])
		case n == 1 && k == 1:
			content = text(`{"wire":{"payload":`, part[0], "}}")
		case k == 2:
			content = text("[", join(",\n", part...), "]")
		case k == 3:
			content = cborOf(t, part...)
		case k == 4:
			content = gzipped(t, join("\r\n", part...))
		case k == 5:
			content = zstded(t, text(`{"object":"list","data":[`, join(",", part...), "]}"))
		}
		files = append(files, source(fmt.Sprintf("f%d", i), content))
	}
	rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	return files
}

// TestFilesAnyOrder verifies that the summary depends neither on how receipts are distributed over
// files nor on the order of the files.
func TestFilesAnyOrder(t *testing.T) {
	a, b := newWriter(t, "a").many(12), newWriter(t, "b").many(5)
	var mixed [][]byte
	for i := range a {
		mixed = append(mixed, a[i])
		if i < len(b) {
			mixed = append(mixed, b[i])
		}
	}
	rng, orders := rand.New(rand.NewPCG(7, 7)), 5
	if testsize.Full() {
		orders = 15
	}
	for _, c := range []struct {
		name string
		list [][]byte
	}{
		{"two streams", mixed}, {"without the beginning", mixed[3:]},
		{"without the end", mixed[:14]}, {"altered", with(mixed, 6, altered(mixed[6]))}, {"altered first", with(mixed, 0, altered(mixed[0]))},
		{"altered last", with(mixed, len(mixed)-1, altered(mixed[len(mixed)-1]))},
	} {
		want := sumOf(t, verify(t, jsonl(c.list...), stream.Options{}).summary)
		for range orders {
			files := scatter(t, rng, c.list)
			r := verifyFiles(t, stream.Options{}, files...)
			if got := sumOf(t, r.summary); got != want || r.err != nil {
				t.Fatalf("%s: %d files: %v\n got %s\nwant %s", c.name, len(files), r, got, want)
			}
		}
	}
}

// TestFilesBroken verifies that chain faults are found regardless of the order of files, with the
// same verdict, counts, and codes.
func TestFilesBroken(t *testing.T) {
	list := newWriter(t, "a").many(10)
	at := func(i int) chain.Head {
		s, err := receipt.ParseSealed(list[i])
		if err != nil {
			t.Fatal(err)
		}
		return s.Head()
	}
	fork := newWriter(t, "a")
	fork.n = 100
	branch := [][]byte{fork.seal(at(3)), fork.next()}
	genesis := newWriter(t, "a")
	genesis.n = 200
	second := genesis.many(2)
	again := newWriter(t, "a")
	again.n = 4 // uses the ID of list[4]
	sameID := again.seal(at(9))
	rng, orders := rand.New(rand.NewPCG(9, 9)), 4
	if testsize.Full() {
		orders = 12
	}
	for _, c := range []struct {
		name string
		list [][]byte
		o    stream.Options
		want string
	}{
		{"break", without(list, 4), stream.Options{}, "refuted 8/1/0 map[chain_break:1] 0 copies"},
		{"two breaks", without(without(list, 7), 2), stream.Options{}, "refuted 6/2/0 map[chain_break:2] 0 copies"},
		{"break, partial", without(list, 4), stream.Options{Partial: true}, "verified 9/0/0 map[] 0 copies"},
		{"fork", append(append([][]byte{}, list...), branch...), stream.Options{}, "refuted 11/1/0 map[chain_fork:1] 0 copies"},
		{"fork, partial", append(append([][]byte{}, list...), branch...), stream.Options{Partial: true}, "refuted 11/1/0 map[chain_fork:1] 0 copies"},
		{"second first", append(append([][]byte{}, list...), second...), stream.Options{}, "refuted 11/1/0 map[chain_break:1] 0 copies"},
		{"second first, partial", append(append([][]byte{}, list...), second...), stream.Options{Partial: true}, "refuted 11/1/0 map[chain_break:1] 0 copies"},
		{"same id", append(append([][]byte{}, list...), sameID), stream.Options{}, "refuted 10/1/0 map[duplicate_id:1] 0 copies"},
		{"copies", append(append([][]byte{}, list...), list[0], list[4], list[9], list[9]), stream.Options{}, "verified 10/0/0 map[] 4 copies"},
	} {
		for range orders {
			var files []stream.Source // one receipt per file, so that the order inside a file does not matter
			for i, doc := range c.list {
				content := doc
				if i%3 == 0 {
					content = pretty(t, doc)
				} else if i%3 == 1 {
					content = cborOf(t, doc)
				}
				files = append(files, source(fmt.Sprint("f", i), content))
			}
			rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
			r := verifyFiles(t, c.o, files...)
			s := r.summary
			got := fmt.Sprintf("%v %d/%d/%d %v %d copies", s.Verdict(), s.Verified, s.Refuted, s.Undecided, s.Codes, s.Copies)
			if got != c.want || len(s.Findings) > 0 || r.err != nil {
				t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, got, c.want, r)
				break
			}
		}
	}
}

// TestFilesInside verifies that the order of receipts inside a file matters, but the order of files
// does not.
func TestFilesInside(t *testing.T) {
	l := newWriter(t, "a").many(6)
	for _, c := range []struct {
		name string
		in   []stream.Source
		want string
	}{
		{"swapped in a file", sources(jsonl(l[0], l[2], l[1], l[3]), jsonl(l[4:]...)), "refuted 5/1/0; f0:2 chain_break; a 6"},
		{"backwards in a file", sources(jsonl(l[5], l[4], l[3]), jsonl(l[:3]...)), "refuted 4/2/0; f0:1 chain_break; f0:2 chain_break; a 6"},
		{"every other", sources(jsonl(l[0], l[2], l[4]), jsonl(l[1], l[3], l[5])), "verified 6/0/0; a 6"},
		{"break at a file", sources(jsonl(l[:2]...), jsonl(l[3:]...)), "refuted 4/1/0; f1:1 chain_break; a 5"},
		{"an empty file", sources(jsonl(l...), nil), "verified 6/0/0; a 6; error"},
		{"a torn file", sources(jsonl(l[3:]...), jsonl(l[0], l[1], l[2][:100])[:len(l[0])+len(l[1])+100]), "undecided 5/0/1; f0:1 open; f1:3 torn_tail; a 5"},
		{"a broken file", sources(jsonl(l[3:]...), gzipped(t, jsonl(l[:3]...))[:100]), ""},
	} {
		r := verifyFiles(t, stream.Options{}, c.in...)
		if c.want == "" {
			if r.err == nil || r.summary.Complete || r.summary.Verdict() == receipt.Verified {
				t.Errorf("%s: %v", c.name, r)
			}
			continue
		}
		if r.summary.Verdict() == receipt.Verified && r.err != nil {
			t.Errorf("%s: verified with an error", c.name)
		}
		if c.name == "an empty file" {
			c.want = "undecided" + c.want[len("verified"):]
		}
		expect(t, c.name, r, c.want)
	}
}

// TestFilesCycle verifies that forged links are refuted if they form a cycle, and that the run
// ends. Receipts that match their hashes cannot form a cycle.
func TestFilesCycle(t *testing.T) {
	l := newWriter(t, "a").many(4)
	first, _ := receipt.ParseSealed(l[1])
	last, _ := receipt.ParseSealed(l[3])
	zero, _ := receipt.ParseSealed(l[0])
	back := bytes.Replace(l[1], []byte(zero.Hash().String()), []byte(last.Hash().String()), 1)
	self := bytes.Replace(l[1], []byte(zero.Hash().String()), []byte(first.Hash().String()), 1)
	for _, c := range []struct {
		name string
		docs [][]byte
		want string
	}{
		{"of three", [][]byte{back, l[2], l[3]}, "refuted 2/1/0"},
		{"of one", [][]byte{self, self}, "refuted 0/2/0"},
		{"of one, and others", [][]byte{l[0], self, l[2]}, "refuted 2/1/0"},
		{"beside a chain", [][]byte{l[0], back, l[2], l[3]}, "refuted 3/1/0"},
	} {
		for name, r := range map[string]result{"files": verifyFiles(t, stream.Options{}, sources(c.docs...)...), "lines": verify(t, jsonl(c.docs...), stream.Options{})} {
			s := r.summary
			if got := fmt.Sprintf("%v %d/%d/%d", s.Verdict(), s.Verified, s.Refuted, s.Undecided); got != c.want || r.err != nil {
				t.Errorf("%s, %s: %v", c.name, name, r)
			}
		}
	}
}

// TestTenants verifies that receipts without a tenant form a separate stream, which is distinct
// from the stream of an empty tenant and of any other tenant.
func TestTenants(t *testing.T) {
	var list [][]byte
	want := map[chain.Stream]uint64{}
	for i, tenant := range []*string{nil, ptr("t"), ptr("tenant t")} {
		w := newWriter(t, "a")
		w.n = 10 * i
		for range 3 {
			d := w.draft()
			if tenant != nil {
				d.Identifiers.TenantID = *tenant
			}
			s, err := receipt.Seal(d, w.head)
			if err != nil {
				t.Fatal(err)
			}
			w.head = s.Head()
			want[s.Stream()]++
			list = append(list, s.JSON())
		}
	}
	if len(want) != 3 {
		t.Fatalf("streams %v", want)
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for _, r := range []result{verify(t, jsonl(list...), stream.Options{}), verifyFiles(t, stream.Options{}, scatter(t, rng, list)...)} {
		if r.err != nil || r.summary.Verdict() != receipt.Verified || len(r.summary.Streams) != 3 {
			t.Errorf("%v", r)
		}
		for _, g := range r.summary.Streams {
			if g.Count != want[g.Stream] {
				t.Errorf("%+v", g)
			}
		}
	}
}

func ptr(s string) *string { return &s }

// TestContinues verifies the options that specify the predecessor and the head of a run.
func TestContinues(t *testing.T) {
	w := newWriter(t, "a")
	list := w.many(8)
	head := func(n int) map[chain.Stream]chain.Head { // after n receipts
		r := verify(t, jsonl(list[:n]...), stream.Options{})
		return r.summary.Heads()
	}
	fork := newWriter(t, "a")
	fork.n = 100
	at3, _ := receipt.ParseSealed(list[3])
	forked := append(append([][]byte{}, list[:4]...), fork.seal(at3.Head()), fork.next())
	others, elsewhere := newWriter(t, "b").many(2), newWriter(t, "c").many(2)
	digest := func(i int) canon.Digest { s, _ := receipt.ParseSealed(list[i]); return s.Hash() }
	later := bytes.Replace(list[5], []byte(receipt.SchemaMarker), []byte("receipt-2027-04-25"), 1)
	n := func(n uint64) *uint64 { return &n }
	for _, c := range []struct {
		name string
		docs [][]byte
		o    stream.Options
		want string
	}{
		{"expected head", list, stream.Options{Continuity: stream.Continuity{Expect: head(8)}}, "verified 8/0/0; a 8"},
		{"longer", list, stream.Options{Continuity: stream.Continuity{Expect: head(5)}}, "verified 8/0/0; a 8"},
		{"the later part", list[4:], stream.Options{Partial: true, Continuity: stream.Continuity{Expect: head(5)}}, "verified 4/0/0; 1 open; a 4"},
		{"rolled back", list[:5], stream.Options{Continuity: stream.Continuity{Expect: head(8)}}, "refuted 5/0/0; whole truncated; a 5"},
		{"rolled back, partial", list[:5], stream.Options{Partial: true, Continuity: stream.Continuity{Expect: head(8)}}, "refuted 5/0/0; whole truncated; a 5"},
		{"forked", forked, stream.Options{Continuity: stream.Continuity{Expect: head(5)}}, "refuted 6/0/0; whole head_mismatch; a 6"},
		{"stream gone", others, stream.Options{Continuity: stream.Continuity{Expect: head(5)}}, "refuted 2/0/0; whole truncated; b 2"},
		{"a stream more", append(append([][]byte{}, list...), others...), stream.Options{Continuity: stream.Continuity{Expect: head(5)}}, "verified 10/0/0; a 8; b 2"},
		{"rolled back, and of another version", append(append([][]byte{}, list[:5]...), later), stream.Options{Continuity: stream.Continuity{Expect: head(8)}}, "undecided 5/0/1; 6 unsupported_schema; a 5"},
		{"only of another version", [][]byte{later, later}, stream.Options{Continuity: stream.Continuity{Expect: head(8)}}, "undecided 0/0/2; 1 unsupported_schema; 2 unsupported_schema"},
		{"head altered", with(list, 4, altered(list[4]))[:5], stream.Options{Continuity: stream.Continuity{Expect: head(5)}}, "refuted 4/1/0; 5 hash_mismatch; a 5"},
		{"after", list[3:], stream.Options{Continuity: stream.Continuity{After: head(3)}}, "verified 5/0/0; a 5"},
		{"after, a gap", list[4:], stream.Options{Continuity: stream.Continuity{After: head(3)}}, "refuted 3/1/0; 1 chain_break; a 4"},
		{"after, from the first", list, stream.Options{Continuity: stream.Continuity{After: head(3)}}, "refuted 7/1/0; 1 chain_break; a 8"},
		{"after, other streams", others, stream.Options{Continuity: stream.Continuity{After: head(3)}}, "undecided 2/0/0; b 2"},
		{"after, a stream more", slices.Concat(list[3:], others), stream.Options{Continuity: stream.Continuity{After: head(3)}}, "verified 7/0/0; a 5; b 2"},
		{"follows", list[3:], stream.Options{Continuity: stream.Continuity{After: head(3), Follows: true}}, "verified 5/0/0; a 5"},
		{"follows, another stream", others, stream.Options{Continuity: stream.Continuity{After: head(3), Follows: true}}, "refuted 2/0/0; whole chain_break; b 2"},
		{"follows, other streams", slices.Concat(others, elsewhere), stream.Options{Continuity: stream.Continuity{After: head(3), Follows: true}}, "undecided 4/0/0; b 2; c 2"},
		{"follows, a stream more", slices.Concat(list[3:], others), stream.Options{Continuity: stream.Continuity{After: head(3), Follows: true}}, "verified 7/0/0; a 5; b 2"},
		{"only previous", list[3:], stream.Options{Continuity: stream.Continuity{Previous: digest(2)}}, "verified 5/0/0; a 5"},
		{"only previous, another", list[3:], stream.Options{Continuity: stream.Continuity{Previous: digest(1)}}, "refuted 4/1/0; 1 chain_break; a 5"},
		{"only head", list, stream.Options{Continuity: stream.Continuity{Head: digest(7)}}, "verified 8/0/0; a 8"},
		{"only head, longer", list, stream.Options{Continuity: stream.Continuity{Head: digest(6)}}, "refuted 8/0/0; whole head_mismatch; a 8"},
		{"only head, shorter", list[:7], stream.Options{Continuity: stream.Continuity{Head: digest(7)}}, "refuted 7/0/0; whole head_mismatch; a 7"},
		{"only count", list, stream.Options{Continuity: stream.Continuity{Count: n(8)}}, "verified 8/0/0; a 8"},
		{"only count, others", list, stream.Options{Continuity: stream.Continuity{Count: n(7)}}, "refuted 8/0/0; whole count_mismatch; a 8"},
		{"only count 0", list, stream.Options{Continuity: stream.Continuity{Count: n(0)}}, "refuted 8/0/0; whole count_mismatch; a 8"},
		{"only count, of another version", append(append([][]byte{}, list[:5]...), later), stream.Options{Continuity: stream.Continuity{Count: n(6)}}, "undecided 5/0/1; 6 unsupported_schema; a 5"},
		{"only count, too many", append(append([][]byte{}, list[:5]...), later), stream.Options{Continuity: stream.Continuity{Count: n(4)}}, "refuted 5/0/1; 6 unsupported_schema; whole count_mismatch; a 5"},
		{"only head, of another version", [][]byte{later, later}, stream.Options{Continuity: stream.Continuity{Head: digest(5)}}, "undecided 0/0/2; 1 unsupported_schema; 2 unsupported_schema"},
		{"only, no receipt at all", [][]byte{[]byte("{}"), []byte("{}")}, stream.Options{Continuity: stream.Continuity{Count: n(2)}}, "refuted 0/2/0; 1 not_a_receipt; 2 not_a_receipt; whole head_mismatch"},
	} {
		expect(t, c.name, verifyOnly(t, jsonl(c.docs...), "x", stream.Sniffed, stream.Options{Continuity: c.o.Continuity, Partial: c.o.Partial}), renamed(c.want, func(i string) string { return "x:" + i }))
		var files []stream.Source
		for i, doc := range c.docs {
			files = append(files, source(fmt.Sprint("x", i+1), doc))
		}
		expect(t, c.name+", files", verifyFiles(t, c.o, files...), renamed(c.want, func(i string) string { return "x" + i }))
	}
	two := append(append([][]byte{}, list...), others...)
	for _, r := range []result{verify(t, jsonl(two...), stream.Options{Continuity: stream.Continuity{Count: n(10)}}), verifyFiles(t, stream.Options{Continuity: stream.Continuity{Count: n(10)}}, sources(two...)...)} {
		if !errors.Is(r.err, stream.ErrStreams) || r.summary.Complete || r.summary.Verdict() == receipt.Verified {
			t.Errorf("two streams: %v (%v)", r, r.err)
		}
	}
}

// TestSharedAbsence verifies that two streams of a selection may name the same absent receipt, at
// any position in the streams. The receipt belongs to at most one of the streams, but nothing shows
// to which stream.
func TestSharedAbsence(t *testing.T) {
	a, b := newWriter(t, "a"), newWriter(t, "b")
	a.next()
	absent := a.head
	a1, b0 := a.next(), b.next()
	b2 := b.seal(absent)
	a3 := a.seal(absent)
	for _, test := range []struct {
		name string
		docs [][]byte
		want string
	}{
		{"at the beginning of both", [][]byte{a1, b2}, "verified 2/0/0; x:1 open; x:2 open; a 1; b 1"},
		{"inside the later one", [][]byte{a1, b0, b2}, "verified 3/0/0; x:1 open; x:3 open; a 1; b 2"},
		{"inside the earlier one", [][]byte{b0, b2, a1}, "verified 3/0/0; x:2 open; x:3 open; a 1; b 2"},
		{"twice in one stream", [][]byte{a1, a3}, "refuted 1/1/0; x:1 open; x:2 chain_fork; a 2"},
	} {
		r := verifyOnly(t, jsonl(test.docs...), "x", stream.Sniffed, stream.Options{Partial: true})
		expect(t, test.name, r, test.want)
	}
}

// renamed replaces source numbers with names: for example, "; 5 code" becomes "; x:5 code".
func renamed(want string, name func(string) string) string {
	var out []byte
	for i := 0; i < len(want); i++ {
		if want[i] == ';' && i+2 < len(want) && want[i+2] >= '0' && want[i+2] <= '9' && !bytes.HasPrefix([]byte(want[i+4:]), []byte("copies")) {
			out = append(append(out, "; "...), name(want[i+2:i+3])...)
			i += 2
			continue
		}
		out = append(out, want[i])
	}
	return string(out)
}
