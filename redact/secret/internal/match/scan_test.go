package match_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/redact/secret"
	"github.com/receiptkit/receiptkit/redact/secret/internal/match"
)

func compile(t testing.TB, detectors []secret.Detector) *match.Scanner {
	t.Helper()
	s, err := secret.Compile(detectors)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// everyday returns the detectors that redaction uses by default.
func everyday() []secret.Detector { return append(secret.Default(), secret.HomePath()) }

// small returns detectors that match short strings and use every kind of search.
func small() []secret.Detector {
	return []secret.Detector{
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
		{Name: "any", Pattern: `(=)?([a-d]{6,})|(dd=)`, Group: secret.FirstGroup},
		{Name: "allowed", Pattern: `(x+)y`, Group: 1, Allow: []string{`^xx$`}, StopWords: []string{"xxxx"}, Allowed: []secret.Allowance{{Patterns: []string{"key"}, Target: secret.TargetLine}}},
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

// brief reports whether tests must be short. Short tests use fewer and shorter strings for the same
// cases. Tests that measure durations are meaningful only if brief returns false.
func brief() bool { return testing.Short() || raceEnabled }

// full reports whether tests run at their full size, which is the case if CI is set and the race
// detector is off.
func full() bool { return testsize.Full() && !raceEnabled }

func TestScanIsNaive(t *testing.T) {
	s, err := secret.Compile(small())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	finds := map[string]int{}
	texts := 4_000
	if brief() {
		texts = 3_000
	} else if full() {
		texts = 40_000
	}
	for n := range texts {
		text := randomText(r, n%60)
		got := s.Scan(text, nil)
		if want := match.Naive(s, text); !slices.Equal(got, want) {
			t.Fatalf("%q:\ngot  %v\nwant %v", text, got, want)
		}
		for _, f := range got {
			finds[s.Name(f.Detector)]++
		}
	}
	for _, d := range small() {
		if finds[d.Name] == 0 && d.Name != "two" && !brief() {
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
	sets := [][]secret.Detector{small(), secret.Upstream(), secret.Default()}
	var scanners []*match.Scanner
	for _, set := range sets {
		s, err := secret.Compile(set)
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
			if want := match.Naive(s, text); !slices.Equal(got, want) {
				t.Fatalf("set %d: got %v, want %v", i, got, want)
			}
		}
	})
}

// ordinary returns text that contains no secrets and resembles the text that agents process.
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
		detectors []secret.Detector
	}{{"upstream", secret.Upstream()}, {"default", secret.Default()}} {
		s, err := secret.Compile(set.detectors)
		if err != nil {
			b.Fatal(err)
		}
		text := ordinary(1 << 20)
		var found []match.Span
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
	s, err := secret.Compile(secret.Default())
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
		if _, err := secret.Compile(secret.Default()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestScanHostile verifies that scanning takes about four times as long for a string of four times
// the length, regardless of its content (reliability #207 to #209).
func TestScanHostile(t *testing.T) {
	s := compile(t, secret.Default())
	size := 1 << 14
	if full() {
		size = 1 << 15
	}
	for _, unit := range []string{
		"eyJ", "eyJ-", "eyJ.", "eyJaaaa.", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY----- ", "Bearer ", "token=", "token: a1b2 ", "key", "key=\"", "secret_", "password:", "s.",
		"curl -u ", "curl", "kind: secret\n", "data:\n", "sk-", "xoxb-", "A", "a", "0", "=", ":", " ", "\n", "\x00", "\xff", "\u212a", "\u017f", "to\u212aen=", "ghp_", "Basic dXNl", "AIza", "authorization: ", "asana", "linear_",
		"password=", "passwd: '", "DB_PASS=a1!", "curl -b a=b ", "mysql -p", "IDENTIFIED BY '", `{"name":"password","value":"x"},`, `"value": "`, "Cookie: sid=", "set(\"token\", ", "-----", "a:1:b:c:",
		`"password":"x",`, `"password":"hunter2x!",`, "https://u:p@h/", "https://h/?token=a&", "?token=aB3dE5fG7hJ9kL2m&", "Authorization: Bearer x ", "key=", "key: ", "api_key=", "secret=", "secret ", "login(", "auth", "--token ", `id="password" `,
	} {
		if brief() {
			s.Scan([]byte(strings.Repeat(unit, 1<<12/len(unit))), nil) // it ends
			continue
		}
		if !testsize.Linear(size, scans(s, unit)) {
			t.Errorf("%q takes more than linear time", unit)
		}
	}
}

// scans returns a function that prepares a scan. The scanned string has the given size, and
// consists of repetitions of a unit.
func scans(s *match.Scanner, unit string) func(size int) func() {
	return func(size int) func() {
		text := []byte(strings.Repeat(unit, size/len(unit)))
		return func() { s.Scan(text, nil) }
	}
}

// TestAnchorsAreLinear verifies that scanning also takes linear time for each detector separately,
// with the anchors of that detector.
func TestAnchorsAreLinear(t *testing.T) {
	most := 1
	if full() {
		most = 2
	}
	for i, d := range secret.Default() {
		s := compile(t, []secret.Detector{d})
		anchors := s.Knowledge(0).Anchors
		for _, anchor := range anchors[:min(most, len(anchors))] {
			for _, unit := range []string{anchor + "=", anchor + " "} {
				scan := scans(s, unit)
				scan(1 << 10)() // compiles, and ends
				if !brief() && !testsize.Linear(1<<12, scan) {
					t.Errorf("detector %d, %s: %q takes more than linear time", i, d.Name, unit)
				}
			}
		}
	}
}

// TestScanLong verifies that a secret is found exactly once at any position in a long text.
func TestScanLong(t *testing.T) {
	s := compile(t, secret.Default())
	token := "gh" + "p_" + strings.Repeat("q7Zk2mXw9Rb4", 3)
	sizes := []int{1 << 20}
	if brief() {
		sizes = []int{512 << 10}
	} else if full() {
		sizes = []int{1 << 20, 10 << 20}
	}
	for _, size := range sizes {
		text := ordinary(size)
		for _, at := range []int{0, 1, 256<<10 - 10, 256 << 10, 256<<10 - len(token), len(text) - len(token) - 1} {
			long := slices.Concat(text[:at], []byte(" "+token+" "), text[at:])
			found := s.Scan(long, nil)
			if len(found) != 1 || found[0].Start != at+1 || found[0].End != at+1+len(token) {
				t.Errorf("at %d of %d: found %v", at, size, found)
			}
		}
	}
	if found := s.Scan([]byte(token), nil); len(found) != 1 || found[0] != (match.Span{0, len(token), found[0].Detector}) {
		t.Errorf("alone: found %v", found)
	}
}

// TestScanAllocates verifies that scanning a string without secrets allocates no memory after the
// first few scans.
func TestScanAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("under the race detector sync.Pool drops what it is given, at random")
	}
	s := compile(t, secret.Default())
	text := ordinary(1 << 16)
	if found := s.Scan(text, nil); len(found) != 0 {
		t.Fatalf("found %v", found)
	}
	if n := testing.AllocsPerRun(50, func() { s.Scan(text, nil) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}

// TestScanOverlaps verifies that the earlier of two detectors takes precedence, and that no part of
// a secret remains if the later detector has a group.
func TestScanOverlaps(t *testing.T) {
	s := compile(t, []secret.Detector{
		{Name: "inner", Pattern: `bcd`},
		{Name: "group", Pattern: `x?([a-c]+)`, Group: 1},
		{Name: "whole", Pattern: `[c-z]{3,}`},
		{Name: "last", Pattern: `(e+fg*)`, Group: 1},
	})
	for text, want := range map[string][]match.Span{
		"_bcd_":    {{1, 4, 0}},
		"xabcdef":  {{1, 5, 0}, {5, 7, 3}},
		"bcdbcd":   {{0, 3, 0}, {3, 6, 0}},
		"mnop ef":  {{0, 4, 2}, {5, 7, 3}},
		"deefg":    {{0, 5, 2}},
		"abcdeefg": {{0, 4, 0}, {4, 8, 3}},
	} {
		if got := s.Scan([]byte(text), nil); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
	kept := []match.Span{{100, 101, 7}}
	if got := s.Scan([]byte("bcd"), kept); len(got) != 2 || got[0] != kept[0] {
		t.Errorf("got %v: the spans before are to stay", got)
	}
}

func TestCompileRefuses(t *testing.T) {
	ok := secret.Detector{Name: "a", Pattern: "x+"}
	for _, test := range []struct {
		detectors []secret.Detector
		want      string
	}{
		{[]secret.Detector{{Pattern: "x"}}, `detector 0 (""): it has no name`},
		{[]secret.Detector{{Name: "A", Pattern: "x"}}, `detector 0 ("A"): expected a name that consists of a-z, 0-9, _, and -`},
		{[]secret.Detector{ok, ok}, `detector 1 ("a"): another detector has that name`},
		{[]secret.Detector{{Name: "a", Pattern: "sk-secret("}}, `detector 0 ("a"): the pattern is invalid: missing closing )`},
		{[]secret.Detector{{Name: "a", Pattern: `(?=x)`}}, `detector 0 ("a"): the pattern is invalid: invalid or unsupported Perl syntax`},
		{[]secret.Detector{{Name: "a", Pattern: ``}}, `detector 0 ("a"): the pattern matches the empty text`},
		{[]secret.Detector{{Name: "a", Pattern: `.*`}}, `detector 0 ("a"): the pattern matches the empty text`},
		{[]secret.Detector{{Name: "a", Pattern: `\b`}}, `detector 0 ("a"): the pattern matches the empty text`},
		{[]secret.Detector{{Name: "a", Pattern: `x|(y?)`}}, `detector 0 ("a"): the pattern matches the empty text`},
		{[]secret.Detector{{Name: "a", Pattern: `(?s).`}}, `detector 0 ("a"): the pattern matches any text`},
		{[]secret.Detector{{Name: "a", Pattern: "x", Group: 1}}, `detector 0 ("a"): the pattern has no group 1`},
		{[]secret.Detector{{Name: "a", Pattern: "x", Group: -2}}, `detector 0 ("a"): the pattern has no group -2`},
		{[]secret.Detector{{Name: "a", Pattern: "x", Entropy: 9}}, `detector 0 ("a"): the entropy of a byte is between 0 and 8 bits`},
		{[]secret.Detector{{Name: "a", Pattern: "x", Keywords: []string{""}}}, `detector 0 ("a"): expected a keyword of 1 to 256 bytes`},
		{[]secret.Detector{{Name: "a", Pattern: "x", Allow: []string{"["}}}, `detector 0 ("a"): an allowance: the pattern is invalid: missing closing ]`},
		{[]secret.Detector{{Name: "a", Pattern: "x", StopWords: []string{""}}}, `detector 0 ("a"): a stop word is empty`},
		{[]secret.Detector{{Name: "a", Pattern: "x", Allowed: []secret.Allowance{{Target: 9}}}}, `detector 0 ("a"): an allowance has an unknown target`},
		{make([]secret.Detector, 2001), `detector 2000 (""): there are more than 2000 detectors`},
		{[]secret.Detector{{Name: "a", Pattern: strings.Repeat("x", 8193)}}, `detector 0 ("a"): the pattern has more than 8192 bytes`},
	} {
		s, err := secret.Compile(test.detectors)
		var wrong *match.Error
		if s != nil || !errors.As(err, &wrong) || err.Error() != "redact: "+test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	if s, err := secret.Compile(nil); err != nil || len(s.Scan([]byte("x"), nil)) != 0 {
		t.Error("no detectors find nothing")
	}
}

// TestTreeSize verifies that the tree for the words of the default detectors needs only a few
// hundred KB. Each process that searches for secrets builds the tree anew.
func TestTreeSize(t *testing.T) {
	if places, used := match.Edges(compile(t, secret.Default())); used < 5000 || places > 2*used {
		t.Errorf("%d places for %d edges", places, used)
	}
}

// TestCompileIsLazy verifies that a default detector is not compiled before a string needs it.
func TestCompileIsLazy(t *testing.T) {
	s := compile(t, secret.Default())
	before := match.Compiled(s)
	if before > 0 {
		t.Errorf("%d are compiled before a text was read", before)
	}
	s.Scan([]byte("nothing to see here"), nil)
	s.Scan([]byte("glpat-0123456789abcdefghij"), nil)
	if now := match.Compiled(s); now == before || now > before+20 {
		t.Errorf("%d are compiled, %d before", now, before)
	}
}
