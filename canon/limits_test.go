package canon

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
)

func TestDepthLimit(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte(strings.Repeat(`{"a":[`, depth/2) + strings.Repeat("[", depth%2) +
			strings.Repeat("]", depth%2) + strings.Repeat("]}", depth/2))
	}
	for _, test := range []struct{ limit, most int }{
		{0, MaxDepth}, {-1, MaxDepth}, {1, 1}, {128, 128}, {MaxDepth, MaxDepth}, {10_000, 10_000}, {math.MaxInt, 10_000},
	} {
		var d Document
		src := nested(test.most)
		if err := d.Parse(src, Limits{Depth: test.limit}); err != nil {
			t.Errorf("limit %d: %v", test.limit, err)
		}
		if d.Depth() != test.most || !bytes.Equal(d.AppendCanonical(nil), src) {
			t.Errorf("limit %d: depth %d, want %d", test.limit, d.Depth(), test.most)
		}
		checkLimit(t, d.Parse(nested(test.most+1), Limits{Depth: test.limit}), CodeDepthLimit)
	}
}

func TestSizeLimit(t *testing.T) {
	var d Document
	for _, test := range []struct{ limit, most int }{{0, MaxBytes}, {-1, MaxBytes}, {1, 1}, {100, 100}, {MaxBytes + 5, MaxBytes + 5}} {
		src := append(bytes.Repeat([]byte(" "), test.most), '1')
		if err := d.Parse(src[1:], Limits{Bytes: test.limit}); err != nil {
			t.Errorf("limit %d: %v", test.limit, err)
		}
		checkLimit(t, d.Parse(src, Limits{Bytes: test.limit}), CodeSizeLimit)
	}
	// The size is checked first, so input that is too long is rejected before its bytes are
	// examined.
	checkLimit(t, d.Parse([]byte("\xff\xff"), Limits{Bytes: 1}), CodeSizeLimit)
}

func checkLimit(t *testing.T, err error, want Code) {
	t.Helper()
	if e, ok := err.(*SyntaxError); !ok || e.Code != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestHostile verifies that every input is processed in linear time, or in O(n log n) time if
// members are sorted (reliability #31, #32, #39 to #42). Each input takes between a few
// milliseconds and a tenth of a second. Quadratic time would take minutes.
func TestHostile(t *testing.T) {
	million, most := 300_000, 2*time.Second
	switch {
	case testing.Short():
		million = 100_000
	case testsize.Full():
		million, most = 1_000_000, 10*time.Second
	}
	repeat := strings.Repeat
	for _, test := range []struct {
		name string
		src  string
		code Code // empty: accepted
	}{
		{"arrays without end", repeat("[", 10*million), CodeDepthLimit},
		{"objects without end", repeat(`{"a":`, 3*million), CodeDepthLimit},
		{"an integer", repeat("9", million), codeNumberRange},
		{"a negative integer that is zero", "-0." + repeat("0", million), ""},
		{"a fraction", "0." + repeat("3", million), ""},
		{"a small fraction", "0." + repeat("0", million) + "1", ""},
		{"an exponent", "1e" + repeat("9", million), codeNumberRange},
		{"a negative exponent", "1e-" + repeat("9", million), ""},
		{"an exponent against its digits", repeat("1", million) + "e-" + fmt.Sprint(million), codeNumberRange},
		{"numbers", "[" + repeat("1.10,", million/4) + "0]", ""},
		{"white space", repeat(" \n", million), codeEmptyInput},
		{"white space in an array", "[" + repeat(" ", 16*million) + "]", ""},
		{"a string", `"` + repeat("x", 16*million) + `"`, ""},
		{"an open string", `"` + repeat("é", million/2), CodeSyntax},
		{"escapes", `"` + repeat(`\u00e9\n`, million/8) + `"`, ""},
		{"surrogate pairs", `"` + repeat(`\ud83d\ude00`, million/8) + `"`, ""},
		{"shuffled members", members(million*3/10, "", 1), ""},
		{"descending members", members(million/10, "", -1), ""},
		{"members of one long beginning", members(million/20, repeat("x", 90), 1), ""},
		{"members of one very long beginning", members(10, repeat("x", million), 1), ""},
		{"members behind NUL", members(million/10, `\u0000\u0000`, 1), ""},
		{"one name", `{` + repeat(`"a":0,`, million/5) + `"a":0}`, codeDuplicateName},
		{"small objects", "[" + repeat(`{"b":0,"a":0},`, million/5) + "{}]", ""},
		{"an error at the end of an array", "[" + repeat("0,", million/4) + "x", CodeSyntax},
		{"an error at the end of an object", members(million/10, "", 1) + "x", codeTrailingData},
		{"deep and wide", "[" + repeat(repeat("[", 900)+"1.0"+repeat("]", 900)+",", million/1000) + "0]", ""},
	} {
		var out []byte
		var err error
		took := most + 1
		// If the machine is busy, the next attempt may be faster.
		for try := 0; try < 3 && took > most; try++ {
			began := time.Now()
			out, err = Transform([]byte(test.src))
			took = time.Since(began)
		}
		if took > most {
			t.Errorf("%s: takes %v", test.name, took)
		}
		if e, ok := err.(*SyntaxError); test.code == "" && err != nil || test.code != "" && (!ok || e.Code != test.code || out != nil) {
			t.Errorf("%s: error %v, want code %q", test.name, err, test.code)
		}
	}
}

// members returns an object with n members whose names share a long prefix. They are in descending
// order if order is -1, and shuffled otherwise.
func members(n int, beginning string, order int) string {
	rng := rand.New(rand.NewPCG(8785, 6))
	names := rng.Perm(n)
	b := []byte{'{'}
	for i, name := range names {
		if order < 0 {
			name = n - i
		}
		b = fmt.Appendf(b, `"%s%07d":0,`, beginning, name)
	}
	b[len(b)-1] = '}'
	return string(b)
}

// TestNoAllocations verifies that a Document that has already grown allocates no memory
// (reliability #52).
func TestNoAllocations(t *testing.T) {
	src := receiptLike()
	wide := []byte(members(100, "name", 1))
	var d Document
	var dst []byte
	text := []byte(Sum(src).String())
	if n := testing.AllocsPerRun(100, func() {
		for _, src := range [][]byte{src, wide} {
			if err := d.Parse(src, Limits{}); err != nil {
				t.Fatal(err)
			}
			root := d.Root()
			dst = d.AppendCanonical(dst[:0])
			dst = d.AppendCanonical(dst[:0], root.Member("signatures"))
			if d.Digest(root.Member("chain").Member("receipt_hash"), root.Member("signatures")).IsZero() {
				t.Fatal("no digest")
			}
		}
		if _, err := ParseDigest(text); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// TestMemory verifies the documented maximum size of the index: two source bytes produce at most
// one node of 20 bytes.
func TestMemory(t *testing.T) {
	src := []byte("[" + strings.Repeat("0,", 500_000) + "0]")
	d, err := Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(d.nodes); got > len(src)/2+1 {
		t.Errorf("%d nodes for %d bytes", got, len(src))
	}
}
