package stream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// transcript returns all results of a run as JSON.
func transcript(t testing.TB, run *stream.Run) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for rep := range run.Reports() {
		if err := enc.Encode(rep); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %d\n", rep.Address(), len(run.Text()))
	}
	s, err := run.Summary()
	fmt.Fprintln(&b, err)
	if err := enc.Encode(s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// troubles returns an input that contains every kind of fault.
func troubles(t testing.TB) []byte {
	a, b := newWriter(t, "a").many(150), newWriter(t, "b").many(150)
	rng := rand.New(rand.NewPCG(5, 5))
	var list [][]byte
	for i := range a {
		list = append(list, a[i], b[i])
		switch rng.IntN(12) {
		case 0:
			list[len(list)-1] = altered(b[i])
		case 1:
			list = list[:len(list)-1]
		case 2:
			list = append(list, a[rng.IntN(i+1)])
		case 3:
			list = append(list, []byte("{}"), nil, []byte("x"))
		case 4:
			list[len(list)-2] = padded(a[i], 200<<10)
		}
	}
	return append(jsonl(list...), a[149][:300]...)
}

// TestJobs verifies that the results depend neither on the number of jobs nor on how the input
// arrives.
func TestJobs(t *testing.T) {
	in := troubles(t)
	v := integrity(t)
	want := transcript(t, stream.Verify(t.Context(), v, bytes.NewReader(in), stream.Options{Jobs: 1}))
	for _, jobs := range []int{0, 2, 3, 8} {
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(in), "halves": iotest.HalfReader(bytes.NewReader(in)), "data with the end": iotest.DataErrReader(bytes.NewReader(in))} {
			if got := transcript(t, stream.Verify(t.Context(), v, r, stream.Options{Jobs: jobs})); got != want {
				t.Errorf("%d jobs, %s: another result", jobs, name)
			}
		}
	}
	short := jsonl(newWriter(t, "c").many(20)...)
	want = transcript(t, stream.Verify(t.Context(), v, bytes.NewReader(short), stream.Options{Jobs: 1}))
	if got := transcript(t, stream.Verify(t.Context(), v, iotest.OneByteReader(bytes.NewReader(short)), stream.Options{Jobs: 3})); got != want {
		t.Error("byte by byte: another result")
	}
	files := sources(in[:len(in)/3], in[len(in)/3:len(in)/2], in[len(in)/2:], cborOf(t, newWriter(t, "d").many(5)...))
	want = transcript(t, stream.VerifyFiles(t.Context(), v, files, stream.Options{Jobs: 1}))
	for _, jobs := range []int{2, 3, 8} {
		if got := transcript(t, stream.VerifyFiles(t.Context(), v, files, stream.Options{Jobs: jobs})); got != want {
			t.Errorf("files, %d jobs: another result", jobs)
		}
	}
}

var errDisk = errors.New("disk on fire")

// TestReadFails verifies that an input is incomplete if there is a read error, and that the
// receipts before the error are counted.
func TestReadFails(t *testing.T) {
	l := chained(t, 400)
	in := jsonl(l...)
	cut := len(jsonl(l[:300]...))
	for name, r := range map[string]io.Reader{
		"at a line":          io.MultiReader(bytes.NewReader(in[:cut]), iotest.ErrReader(errDisk)),
		"in a line":          io.MultiReader(bytes.NewReader(in[:cut+50]), iotest.ErrReader(errDisk)),
		"once, then the end": io.MultiReader(bytes.NewReader(in[:cut]), &failing{}),
	} {
		r := collect(stream.Verify(t.Context(), integrity(t), r, stream.Options{}))
		expect(t, name, r, "undecided 300/0/0; a 300; error")
		var incomplete *stream.IncompleteError
		if !errors.As(r.err, &incomplete) || incomplete.Notices[0].Detail != errDisk.Error() || r.summary.Complete {
			t.Errorf("%s: %v", name, r.err)
		}
	}
	for name, in := range map[string]io.Reader{
		"at the beginning":    iotest.ErrReader(errDisk),
		"at once, then empty": &failing{},
		"in the first line":   io.MultiReader(bytes.NewReader(in[:100]), &failing{}),
		"in an array":         io.MultiReader(bytes.NewReader(text("[", l[0][:50])), &failing{}),
		"in a document":       io.MultiReader(bytes.NewReader([]byte("{\n\"a\":")), &failing{}),
		"in CBOR":             io.MultiReader(bytes.NewReader(cborOf(t, l[0])[:50]), &failing{}),
		"in gzip":             io.MultiReader(bytes.NewReader(gzipped(t, in)[:50]), &failing{}),
		"in zstd":             io.MultiReader(bytes.NewReader(zstded(t, in)[:50]), &failing{}),
	} {
		r := collect(stream.Verify(t.Context(), integrity(t), in, stream.Options{}))
		var incomplete *stream.IncompleteError
		if !errors.As(r.err, &incomplete) || !strings.Contains(incomplete.Notices[0].Detail, errDisk.Error()) || r.summary.Complete || r.summary.Receipts > 0 {
			t.Errorf("%s: %v, %v", name, r, r.err)
		}
	}
	broken := stream.Source{Name: "gone", Open: func() (io.ReadCloser, error) { return nil, errDisk }}
	expect(t, "cannot be opened", verifyFiles(t, stream.Options{}, source("x", l[1]), broken, source("y", l[0])), "undecided 2/0/0; a 2; error")
	expect(t, "the only one cannot be opened", verifyFiles(t, stream.Options{}, broken), "undecided 0/0/0; error")
}

// A failing value is a reader that returns an error once, and then io.EOF.
type failing struct{ failed bool }

func (f *failing) Read([]byte) (int, error) {
	if f.failed {
		return 0, io.EOF
	}
	f.failed = true
	return 0, errDisk
}

func settle(t *testing.T, before int) {
	t.Helper()
	for range 3000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stack := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, stack[:runtime.Stack(stack, true)])
}

// TestStopSeveral verifies that a stopped run over several sources reports only the receipts that it
// judged, that its report can be read, and that merging it with another report refutes nothing.
func TestStopSeveral(t *testing.T) {
	list := append(newWriter(t, "a").many(9), newWriter(t, "b").many(3)...)
	last := part(t, stream.Options{Partial: true}, list[7:9]...)
	for at := 1; at < len(list); at++ {
		run := stream.VerifyFiles(t.Context(), integrity(t), sources(jsonl(list[9:]...), jsonl(list[3:9]...), jsonl(list[:3]...)), stream.Options{})
		n := 0
		for range run.Reports() {
			if n++; n == at {
				break
			}
		}
		s, err := run.Summary()
		if want := 1 + min(at-1, 3)/3 + (at-1)/9; !errors.Is(err, stream.ErrStopped) || s.Inputs.Files != want {
			t.Errorf("stopped at %d: %v, %d files, expected %d", at, err, s.Inputs.Files, want)
		}
		s = reread(t, "stopped", s)
		placed := uint64(0)
		for _, g := range s.Streams {
			placed += g.Count
		}
		if placed != uint64(at) {
			t.Errorf("stopped at %d: %v", at, s.Streams)
		}
		anyOrder(t, "with another part", receipt.Undecided, s, last)
	}
}

// TestStop verifies that a stopped run reports that it was stopped, and leaves no goroutine
// running.
func TestStop(t *testing.T) {
	in := jsonl(chained(t, 1000)...)
	before := runtime.NumGoroutine()
	for _, at := range []int{1, 2, 500, 1000} {
		run := stream.Verify(t.Context(), integrity(t), bytes.NewReader(in), stream.Options{Jobs: 3})
		n := 0
		for range run.Reports() {
			if n++; n == at {
				break
			}
		}
		s, err := run.Summary()
		if !errors.Is(err, stream.ErrStopped) || s.Complete || s.Verdict() == receipt.Verified || s.Receipts != at {
			t.Errorf("stopped at %d: %v, %+v", at, err, s)
		}
		if run.Text() != nil {
			t.Error("a document outlives the loop")
		}
	}
	for _, at := range []int{1, 500} {
		ctx, cancel := context.WithCancel(t.Context())
		run := stream.Verify(ctx, integrity(t), bytes.NewReader(in), stream.Options{Jobs: 3})
		n := 0
		for range run.Reports() {
			if n++; n == at {
				cancel()
			}
		}
		s, err := run.Summary()
		if !errors.Is(err, context.Canceled) || s.Complete || s.Verdict() == receipt.Verified || n > at+1 {
			t.Errorf("cancelled at %d: %v, %d reports", at, err, n)
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, run := range map[string]*stream.Run{
		"one":     stream.Verify(ctx, integrity(t), bytes.NewReader(in), stream.Options{}),
		"several": stream.VerifyFiles(ctx, integrity(t), sources(in, in), stream.Options{}),
	} {
		if s, err := run.Summary(); !errors.Is(err, context.Canceled) || s.Complete || s.Verdict() == receipt.Verified {
			t.Errorf("%s, cancelled before: %v", name, err)
		}
	}
	settle(t, before)
	// Only the goroutine that is blocked in Read remains.
	pipe, hung := io.Pipe()
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := stream.Verify(ctx, integrity(t), pipe, stream.Options{}).Summary(); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a pipe that hangs: %v", err)
	}
	hung.Close()
	settle(t, before)
}

// TestOnce verifies that the reports can be iterated over only once, but the summary can be
// requested any number of times.
func TestOnce(t *testing.T) {
	in := jsonl(newWriter(t, "a").many(5)...)
	run := stream.Verify(t.Context(), integrity(t), bytes.NewReader(in), stream.Options{})
	s, err := run.Summary()
	if err != nil || s.Verdict() != receipt.Verified || s.Receipts != 5 || !s.Complete {
		t.Errorf("summary alone: %+v, %v", s, err)
	}
	for range run.Reports() {
		t.Error("a report follows the summary")
	}
	again, err := run.Summary()
	if again != s || err != nil {
		t.Error("another summary")
	}
	if s.Inputs.Bytes != int64(len(in)) {
		t.Errorf("%d bytes read, expected %d", s.Inputs.Bytes, len(in))
	}
	run = stream.Verify(t.Context(), integrity(t), bytes.NewReader(in), stream.Options{})
	for range run.Reports() {
		if early, _ := run.Summary(); early.Complete || early.Verdict() == receipt.Verified {
			t.Error("verified before the end")
		}
		for range run.Reports() {
			t.Error("reports twice")
		}
	}
	if s, err := run.Summary(); err != nil || !s.Complete {
		t.Errorf("asked early: %v", err)
	}
}

// TestChanged verifies that the results of the first pass are not applied to content that has
// changed since then.
func TestChanged(t *testing.T) {
	l := newWriter(t, "a").many(6)
	other := newWriter(t, "a")
	other.n = 100
	o := other.many(3)
	for _, c := range []struct {
		name         string
		first, later []byte
	}{
		{"cut", jsonl(l[:3]...), jsonl(l[:2]...)},
		{"grown", jsonl(l[:3]...), jsonl(l[:4]...)},
		{"another", jsonl(l[:3]...), jsonl(o...)},
		{"altered", jsonl(l[:3]...), jsonl(with(l[:3], 1, altered(l[1]))...)},
		{"reordered", jsonl(l[:3]...), jsonl(swapped(l[:3], 0, 1)...)},
		{"unreadable", jsonl(l[:3]...), jsonl(with(l[:3], 1, []byte("x"))...)},
		{"readable", jsonl(with(l[:3], 1, []byte("x"))...), jsonl(l[:3]...)},
		{"emptied", jsonl(l[:3]...), nil},
		{"a line more", jsonl(l[:3]...), jsonl(append(append([][]byte{}, l[:3]...), []byte("x"))...)},
	} {
		for _, last := range []bool{false, true} {
			opened := 0
			changing := stream.Source{Name: "c", Open: func() (io.ReadCloser, error) {
				if opened++; opened > 1 {
					return io.NopCloser(bytes.NewReader(c.later)), nil
				}
				return io.NopCloser(bytes.NewReader(c.first)), nil
			}}
			files := []stream.Source{changing, source("x", jsonl(l[3:]...))}
			if last {
				files[0], files[1] = files[1], files[0]
			}
			r := verifyFiles(t, stream.Options{}, files...)
			if !errors.Is(r.err, stream.ErrChanged) || r.summary.Complete || r.summary.Verdict() == receipt.Verified || opened != 2 {
				t.Errorf("%s: %v (%v)", c.name, r, r.err)
			}
		}
	}
}

// TestReadOnce verifies that, if the input can be read only once, a checkpoint is rejected before
// anything is read.
func TestReadOnce(t *testing.T) {
	input := bytes.NewBuffer(jsonl(newWriter(t, "a").many(3)...))
	unread := input.Len()
	r := collect(stream.Verify(context.Background(), integrity(t), input, stream.Options{Checkpoint: []byte("whatever it is")}))
	if !errors.Is(r.err, stream.ErrOnce) || input.Len() != unread || r.summary.Complete || r.summary.Verdict() == receipt.Verified {
		t.Errorf("%v (%v), %d of %d bytes are left", r, r.err, input.Len(), unread)
	}
}

type closing struct {
	io.Reader
	open *atomic.Int64
}

func (c closing) Close() error { c.open.Add(-1); return nil }

// TestClosed verifies that every file is closed, and that only a few files are open at the same
// time.
func TestClosed(t *testing.T) {
	l := chained(t, 500)
	var open, most, all atomic.Int64
	var files []stream.Source
	for i := range 1000 {
		content := l[i/2]
		if i%10 == 1 {
			content = gzipped(t, content)
		}
		switch i % 100 {
		case 1:
			content = content[:20]
		case 3:
			content = nil
		case 5:
			content = zstded(t, content)
		case 7:
			content = []byte("\x28\xb5\x2f\xfd")
		}
		files = append(files, stream.Source{Name: fmt.Sprint(i), Open: func() (io.ReadCloser, error) {
			all.Add(1)
			most.Store(max(most.Load(), open.Add(1)))
			return closing{bytes.NewReader(content), &open}, nil
		}})
	}
	if _, err := stream.VerifyFiles(t.Context(), integrity(t), files, stream.Options{}).Summary(); err == nil {
		t.Error("broken files are not reported as an error")
	}
	if all.Load() != 2000 || open.Load() != 0 || most.Load() > 1 {
		t.Errorf("%d opened, %d not closed, %d at a time", all.Load(), open.Load(), most.Load())
	}
	for range stream.VerifyFiles(t.Context(), integrity(t), files, stream.Options{}).Reports() {
		break
	}
	for range 3000 {
		if open.Load() == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if open.Load() != 0 {
		t.Errorf("a stopped run did not close %d inputs", open.Load())
	}
}

// TestLivePipe verifies that reports are returned one by one while a pipe is still open.
func TestLivePipe(t *testing.T) {
	in, out := io.Pipe()
	list := newWriter(t, "a").many(4)
	seen := make(chan bool, len(list))
	go func() {
		for i, doc := range list {
			if i > 1 { // only the second document shows that there are several documents
				<-seen
			}
			out.Write(append(doc, '\n'))
		}
		out.Close()
	}()
	run, count := stream.Verify(context.Background(), integrity(t), in, stream.Options{}), 0
	for range run.Reports() {
		count++
		seen <- true
	}
	if sum, err := run.Summary(); err != nil || count != 4 || sum.Verdict() != receipt.Verified {
		t.Errorf("%d, %v, %v", count, sum.Verdict(), err)
	}
}
