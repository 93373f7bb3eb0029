package stream_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

func gzipped(t testing.TB, in []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(in); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstded(t testing.TB, in []byte, o ...zstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	if len(in) <= 64<<10 { // a larger window would only use more memory
		o = append([]zstd.EOption{zstd.WithWindowSize(64 << 10)}, o...)
	}
	w, err := zstd.NewWriter(&b, append(o, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(in); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func flipped(b []byte, at int) []byte {
	c := bytes.Clone(b)
	c[(at+len(b))%len(b)] ^= 1
	return c
}

// TestCompression verifies both compression formats in all their forms. Corrupt data must be
// reported as an error after the receipts that precede it.
func TestCompression(t *testing.T) {
	l := newWriter(t, "a").many(3)
	in := jsonl(l...)
	gz, zst := gzipped(t, in), zstded(t, in)
	skip := []byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'}
	empty := gzipped(t, nil)
	const all = "verified 3/0/0; a 3"
	for _, c := range []struct {
		name, want, in string
	}{
		{"gzip", all, string(gz)},
		{"gzip members", all, string(text(gzipped(t, l[0]), gzipped(t, []byte("\n")), gzipped(t, l[1]), empty, gzipped(t, []byte("\n")), gzipped(t, l[2])))},
		{"gzip members that split a line", all, string(text(gzipped(t, in[:1000]), gzipped(t, in[1000:])))},
		{"1,000 empty members", all, string(text(bytes.Repeat(empty, 1000), gz, bytes.Repeat(empty, 1000)))},
		{"gzip of nothing", "undecided 0/0/0; error", string(empty)},
		{"gzip and garbage", "undecided 3/0/0; a 3; error", string(text(gz, "garbage garbage"))},
		{"gzip and zeros", "undecided 3/0/0; a 3; error", string(text(gz, make([]byte, 512)))},
		{"gzip and a receipt", "undecided 3/0/0; a 3; error", string(text(gz, l[0]))},
		{"gzip cut in its trailer", "undecided 3/0/0; a 3; error", string(gz[:len(gz)-4])},
		{"gzip of another length", "undecided 3/0/0; a 3; error", string(flipped(gz, -1))},
		{"gzip of another sum", "undecided 3/0/0; a 3; error", string(flipped(gz, -6))},
		{"gzip header alone", "undecided 0/0/0; error", string(gz[:8])},
		{"gzip magic alone", "undecided 0/0/0; error", string(gz[:2])},
		{"gzip of CBOR", all, string(gzipped(t, cborOf(t, l...)))},
		{"gzip of a pretty array", all, string(gzipped(t, pretty(t, text("[", join(",", l...), "]"))))},
		{"zstd", all, string(zst)},
		{"zstd frames", all, string(text(zstded(t, l[0]), zstded(t, []byte("\n")), zstded(t, l[1]), zstded(t, nil), zstded(t, []byte("\n")), zstded(t, l[2])))},
		{"zstd and skippable frames", all, string(text(skip, zst, skip, skip))},
		{"zstd of nothing", "undecided 0/0/0; error", string(zstded(t, nil))},
		{"skippable frames alone", "undecided 0/0/0; error", string(text(skip, skip))},
		{"zstd and garbage", "undecided 3/0/0; a 3; error", string(text(zst, "garbage garbage"))},
		{"zstd of another sum", "undecided 3/0/0; a 3; error", string(flipped(zst, -1))},
		{"zstd magic alone", "undecided 0/0/0; error", string(zst[:4])},
		{"zstd of CBOR", all, string(zstded(t, cborOf(t, l...)))},
		{"gzip in gzip", "undecided 0/0/0; error", string(gzipped(t, gz))},
		{"gzip in zstd", "undecided 0/0/0; error", string(zstded(t, gz))},
		{"zstd in gzip", "undecided 0/0/0; error", string(gzipped(t, zst))},
		{"zstd in zstd", "undecided 0/0/0; error", string(zstded(t, zst))},
	} {
		r := verify(t, []byte(c.in), stream.Options{})
		expect(t, c.name, r, c.want)
		if (r.err == nil) != r.summary.Complete {
			t.Errorf("%s: complete %v, error %v", c.name, r.summary.Complete, r.err)
		}
		if r.summary.Inputs.Bytes != int64(len(c.in)) && r.err == nil {
			t.Errorf("%s: %d bytes of %d", c.name, r.summary.Inputs.Bytes, len(c.in))
		}
	}
	for _, packed := range [][]byte{gz, zst} {
		for n := 1; n < len(packed); n += 1 + len(packed)/47 { // cut anywhere
			r := verify(t, packed[:n], stream.Options{})
			if r.summary.Verdict() == 1 || r.summary.Complete && r.summary.Refuted == 0 {
				t.Errorf("%d of %d bytes: %v", n, len(packed), r)
			}
		}
	}
}

// TestCompressionTold verifies that errors for compressed inputs state the fault and suggest a
// remedy.
func TestCompressionTold(t *testing.T) {
	in := jsonl(newWriter(t, "a").many(3)...)
	gz, zst := gzipped(t, in), zstded(t, in)
	for _, c := range []struct {
		name       string
		in         []byte
		text, hint string
	}{
		{"cut gzip", gz[:len(gz)-9], "gzip: the file is truncated", "cut off"},
		{"cut zstd", zst[:len(zst)-9], "zstd: the file is truncated", "cut off"},
		{"garbage behind gzip", text(gz, "garbage garbage"), "gzip: the file does not begin", ""},
		{"a line end behind gzip", text(gz, "\n"), "gzip: the file does not begin", ""},
		{"a cut member behind gzip", text(gz, string(gz[:7])), "gzip: the file is truncated", "cut off"},
		{"sum of gzip", flipped(gz, -6), "gzip: its checksum does not match", "damaged"},
		{"nested", gzipped(t, gz), "inside a compressed file", ""},
	} {
		r := verify(t, c.in, stream.Options{})
		if len(r.summary.Inputs.Unreadable) != 1 {
			t.Errorf("%s: %v", c.name, r)
			continue
		}
		notice := r.summary.Inputs.Unreadable[0]
		if notice.Source != "input" || !strings.Contains(notice.Detail, c.text) || !strings.Contains(notice.Hint, c.hint) {
			t.Errorf("%s: %+v", c.name, notice)
		}
	}
}

// TestWindow verifies that a window is rejected if it exceeds the limit. If Options.Long would
// allow the window, the error must contain a hint.
func TestWindow(t *testing.T) {
	l := newWriter(t, "a").many(1)
	in := text(padded(l[0], 1<<20), bytes.Repeat([]byte("\n"), 19<<20)) // larger than a window; otherwise, the frame would have no window descriptor
	all := map[int][]byte{}
	for _, c := range []struct {
		window int
		long   bool
		ok     bool
	}{{8 << 20, false, true}, {16 << 20, false, false}, {16 << 20, true, true}, {128 << 20, true, true}, {256 << 20, true, false}} {
		window := min(c.window, 128<<20)
		if all[window] == nil {
			all[window] = zstded(t, in, zstd.WithWindowSize(window))
		}
		packed := bytes.Clone(all[window])
		if c.window > 128<<20 { // the window descriptor follows the magic number and the header descriptor
			packed[5] = byte(28-10)<<3 | packed[5]&7
		}
		r := verify(t, packed, stream.Options{Long: c.long})
		if ok := r.err == nil && r.summary.Verified == 1; ok != c.ok {
			t.Errorf("window of %d MiB, long %v: %v", c.window>>20, c.long, r)
		}
		var incomplete *stream.IncompleteError
		if !c.ok && (!errors.As(r.err, &incomplete) || !strings.Contains(incomplete.Notices[0].Detail, "window")) {
			t.Errorf("window of %d MiB: %v", c.window>>20, r.err)
		}
		if n := incomplete; !c.ok && !c.long && (!n.Notices[0].Wide || !strings.Contains(n.Notices[0].Hint, "128 MiB")) {
			t.Errorf("no hint: %+v", incomplete.Notices[0])
		}
	}
}

// repeat returns a reader for n copies of a piece.
func repeat(piece []byte, n int64) io.Reader { return &repeater{piece: piece, n: n} }

type repeater struct {
	piece []byte
	at    int
	n     int64
}

func (r *repeater) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.piece[r.at:])
	if r.at += n; r.at == len(r.piece) {
		r.at = 0
		r.n--
	}
	return n, nil
}

// bombs returns an input of 10 GB in three forms: as gzip members and as zstd frames, which
// decompress to 10 MB each, and uncompressed.
func bombs(t testing.TB, c string) map[string]func() io.Reader {
	plain := bytes.Repeat([]byte(c), 10<<20/len(c))
	return map[string]func() io.Reader{
		"gzip":  func() io.Reader { return repeat(gzipped(t, plain), 1000) },
		"zstd":  func() io.Reader { return repeat(zstded(t, plain), 1000) },
		"plain": func() io.Reader { return repeat(plain, 1000) },
	}
}

// watch returns the maximum growth of the heap while f runs with the given GC percentage. The
// default percentage is 100.
func watch(percent int, f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(percent))
	runtime.GC() // memory in pools is freed only in the second collection
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var most atomic.Uint64
	done, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapAlloc))
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	<-stopped
	return most.Load() - min(before.HeapAlloc, most.Load())
}

// TestBombs verifies that reading ends early, and uses little time and memory, if an input
// decompresses to useless data.
func TestBombs(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("reads gigabytes")
	}
	// Except at full size, the test uses one form of each bomb, and all forms of one bomb.
	forms := []string{"gzip", "zstd", "plain"}
	for i, c := range []struct{ name, of, before string }{
		{"zeros", "\x00", ""}, {"newlines", "\n", ""}, {"brackets", "[", ""}, {"spaces", " ", ""},
		{"spaces in an array", " ", "["},
	} {
		for name, bomb := range bombs(t, c.of) {
			if !testsize.Full() && c.name != "brackets" && name != forms[i%len(forms)] {
				continue
			}
			in := bomb()
			if c.before != "" {
				switch name {
				case "plain":
					in = io.MultiReader(strings.NewReader(c.before), in)
				case "gzip":
					in = io.MultiReader(bytes.NewReader(gzipped(t, []byte(c.before))), in)
				default:
					in = io.MultiReader(bytes.NewReader(zstded(t, []byte(c.before))), in)
				}
			}
			var r result
			began := time.Now()
			most := watch(100, func() { r = collect(stream.Verify(t.Context(), integrity(t), in, stream.Options{Jobs: 2})) })
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("%s, %s: %v", c.name, name, took)
			}
			if r.summary.Verdict() == 1 || r.summary.Complete && r.summary.Refuted+r.summary.Undecided == 0 {
				t.Errorf("%s, %s: %v", c.name, name, r)
			}
			if most > 128<<20 {
				t.Errorf("%s, %s: %d MiB", c.name, name, most>>20)
			}
		}
	}
}

// An endless value is a reader that behaves like /dev/zero.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestEndless verifies that reading an endless input ends with an error.
func TestEndless(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("reads gigabytes")
	}
	r := collect(stream.Verify(t.Context(), integrity(t), endless{}, stream.Options{}))
	expect(t, "zeros", r, "refuted 0/1/0; input size_limit; error")
	if n := r.summary.Inputs.Bytes; n < stream.MaxGap || n > stream.MaxGap+(64<<20) {
		t.Errorf("%d bytes were read", n)
	}
}
