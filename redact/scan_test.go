package redact

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// naive scans a text as the documentation says it: each detector alone, with a
// regular expression over all of the text, and no more of the rest than needed.
func naive(s *Scanner, detectors []Detector, text []byte) []Span {
	owner := make([]int, len(text)) // of each byte: 1 + the find that it belongs to
	var finds []Span
	for i, d := range detectors {
		if !slices.ContainsFunc(d.Keywords, func(k string) bool { return strings.Contains(asciiLower(text), k) }) && len(d.Keywords) > 0 {
			continue
		}
		w := work{s: s, text: text}
		for _, at := range s.detectors[i].whole.FindAllSubmatchIndex(text, -1) {
			w.take(i, at, 0)
		}
		for _, f := range w.finds {
			meets := map[int]bool{}
			for _, o := range owner[f.Start:f.End] {
				if o > 0 {
					meets[o-1] = true
				}
			}
			if len(meets) > 0 && d.Group == 0 {
				continue
			}
			for o := range meets {
				f.Start, f.End, f.Detector = min(f.Start, finds[o].Start), max(f.End, finds[o].End), min(f.Detector, finds[o].Detector)
				finds[o].Start = -1
			}
			finds = append(finds, f)
			for j := f.Start; j < f.End; j++ {
				owner[j] = len(finds)
			}
		}
	}
	finds = slices.DeleteFunc(finds, func(f Span) bool { return f.Start < 0 })
	slices.SortFunc(finds, func(a, b Span) int { return a.Start - b.Start })
	return finds
}

// asciiLower knows the two letters that regular expressions fold to ASCII ones.
func asciiLower(text []byte) string {
	return strings.NewReplacer("\u017f", "s", "\u212a", "k").Replace(lower(string(text)))
}

// small detectors meet on short texts, in every way that a search can take.
func small() []Detector {
	return []Detector{
		{Name: "begins", Pattern: `ab[cd]{2,4}`},
		{Name: "word", Pattern: `\b(sk-\w{3,5})\b`, Group: 1, Keywords: []string{"sk-"}},
		{Name: "run", Pattern: `(?i)tok[a-c]*=([a-z0-9]+)`, Group: 1, Keywords: []string{"tok"}},
		{Name: "before", Pattern: `[a-z]{3}\.key\.[a-d]{2,}`, Group: 0},
		{Name: "left", Pattern: `[a-d]*=k(?:ey)?`, Group: 0},
		{Name: "line", Pattern: `(?m)^ke[y-z]+$`, Group: 0},
		{Name: "text", Pattern: `^tok\b|\bkey$`, Group: 0},
		{Name: "gate", Pattern: `[0-9]{3}`, Keywords: []string{"key", "sk"}},
		{Name: "always", Pattern: `[ef]{3,}`},
		{Name: "two", Pattern: `abx|xab|babx`, Group: 0},
		{Name: "rune", Pattern: `é.ab`, Group: 0},
		{Name: "not", Pattern: `\Bcd\B`, Group: 0},
		{Name: "block", Pattern: `(?s)BEGIN(.*?)(?:END|$)`, Group: 1},
		{Name: "any", Pattern: `(=)?([a-d]{6,})|(dd=)`, Group: FirstGroup},
		{Name: "allowed", Pattern: `(x+)y`, Group: 1, Allow: []string{`^xx$`}, StopWords: []string{"xxxx"}, Allowed: []Allowance{{Patterns: []string{"key"}, Target: TargetLine}}},
	}
}

var pieces = strings.Fields(`a b c d ab abc cd e f ef fff sk- sk k s tok key .key. = == . - x y xx xab babx 1 23 456 é 世 BEGIN END K ſ \ `)

func randomText(r *rand.Rand, n int) []byte {
	var b []byte
	for len(b) < n {
		switch r.IntN(20) {
		case 0:
			b = append(b, '\n')
		case 1, 2:
			b = append(b, ' ')
		case 3:
			b = append(b, byte(r.IntN(256)))
		default:
			b = append(b, pieces[r.IntN(len(pieces))]...)
		}
	}
	return b
}

func TestScanIsNaive(t *testing.T) {
	s, err := Compile(small())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	finds := map[string]int{}
	for n := range 40_000 {
		text := randomText(r, n%60)
		got := s.Scan(text, nil)
		if want := naive(s, small(), text); !slices.Equal(got, want) {
			t.Fatalf("%q:\ngot  %v\nwant %v", text, got, want)
		}
		for _, f := range got {
			finds[s.Name(f.Detector)]++
		}
	}
	for _, d := range small() {
		if finds[d.Name] == 0 && d.Name != "two" {
			t.Errorf("nothing was found by %s", d.Name)
		}
	}
	t.Log(finds)
}

func FuzzScan(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 50 {
		f.Add(randomText(r, n))
	}
	f.Add([]byte("the token = a1b2c3d4e5f6g7h8 of Ke\u212a, pa\u017fsword: \"x1y2z3w4\""))
	sets := [][]Detector{small(), UpstreamDetectors(), DefaultDetectors()}
	var scanners []*Scanner
	for _, set := range sets {
		s, err := Compile(set)
		if err != nil {
			f.Fatal(err)
		}
		scanners = append(scanners, s)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for i, s := range scanners {
			got := s.Scan(text, nil)
			if end := 0; true {
				for _, sp := range got {
					if sp.Start < end || sp.End <= sp.Start || sp.End > len(text) || sp.Detector < 0 || sp.Detector >= len(sets[i]) {
						t.Fatalf("span %v", sp)
					}
					end = sp.End
				}
			}
			if want := naive(s, sets[i], text); !slices.Equal(got, want) {
				t.Fatalf("set %d: got %v, want %v", i, got, want)
			}
		}
	})
}

// ordinary returns texts without secrets that are like what agents handle.
func ordinary(size int) []byte {
	const sheet = `{"id":"evt_%d","kind":"model_call","provider":"anthropic","model":"sonnet-4","usage":{"input_tokens":%d,"output_tokens":%d,"cached_tokens":0},"cost":{"usd":0.0421},"route":{"key":"default","policy":"cheapest"},"args_hash":"sha256:%064x","trace_id":"%08x-9b1d-4c3e-8a77-1f2e3d4c5b6a","started_at":"2026-04-25T10:%02d:00Z"}
2026-04-25T10:%02d:11.482Z INFO  http: GET /v1/tasks/task_%d 200 in 18ms bytes=5120 request_id=req_%d user_agent="curl/8.5.0" cache=hit
The quarterly report was reviewed by three people; each of them asked for the author's access to the archive. "We keep the keys in a drawer," she said, and the auditors, who had seen worse, wrote down: authorised, with a token of thanks. Is. This. Basic enough? No secret was found there.
func (s *Server) token(ctx context.Context, key string) (*Token, error) { return s.store.Lookup(ctx, hash(key)) }
commit %040x
`
	r := rand.New(rand.NewPCG(5, 6))
	var b bytes.Buffer
	for b.Len() < size {
		n := r.IntN(100_000)
		fmt.Fprintf(&b, sheet, n, n, n/3, n*n, n, n%60, n%60, n, n, n)
	}
	return b.Bytes()
}

func BenchmarkScan(b *testing.B) {
	for _, set := range []struct {
		name      string
		detectors []Detector
	}{{"upstream", UpstreamDetectors()}, {"default", DefaultDetectors()}} {
		s, err := Compile(set.detectors)
		if err != nil {
			b.Fatal(err)
		}
		text := ordinary(1 << 20)
		var found []Span
		b.Run(set.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				found = s.Scan(text, found[:0])
			}
		})
		for _, f := range found[:min(3, len(found))] {
			b.Logf("%s %q", s.Name(f.Detector), text[f.Start:f.End])
		}
	}
}

func BenchmarkScanSmall(b *testing.B) {
	s, err := Compile(DefaultDetectors())
	if err != nil {
		b.Fatal(err)
	}
	text := []byte("2026-04-25T10:00:00Z: sent")
	b.ReportAllocs()
	for b.Loop() {
		s.Scan(text, nil)
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := Compile(DefaultDetectors()); err != nil {
			b.Fatal(err)
		}
	}
}

func TestScanHostile(t *testing.T) {
	s, err := Compile(DefaultDetectors())
	if err != nil {
		t.Fatal(err)
	}
	for _, unit := range []string{"eyJ", "eyJ-", "eyJ.", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "Bearer ", "token=", "token: a1b2 ", "key", "key=\"", "secret_", "password:", "s.", "curl -u ", "kind: secret\n", "data:\n", "sk-", "A", "a", "0", "=", "\u212a", "\u017f", "to\u212aen=", "ghp_", "Basic dXNl", "AIza"} {
		for _, size := range []int{1 << 18, 1 << 20} {
			text := []byte(strings.Repeat(unit, size/len(unit)))
			began := time.Now()
			found := s.Scan(text, nil)
			t.Logf("%-30q %8d %4d %v", unit, size, len(found), time.Since(began))
		}
	}
}
