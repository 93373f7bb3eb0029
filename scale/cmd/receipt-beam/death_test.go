package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// dying passes elements on. It panics once in the middle of a bundle, after later steps have
// processed the preceding elements.
type dying struct{ After int64 }

var (
	passed atomic.Int64
	dead   atomic.Bool
)

// ProcessElement passes one element on.
func (d *dying) ProcessElement(element []byte, emit func([]byte)) {
	if passed.Add(1) > d.After && !dead.Swap(true) {
		panic("the worker dies")
	}
	emit(element)
}

func init() { beam.RegisterDoFn(reflect.TypeFor[dying]()) }

// jobOf returns the job that a command line specifies.
func jobOf(t *testing.T, args ...string) *job {
	t.Helper()
	begin()
	var o options
	if err := o.flags(os.Stderr).Parse(args); err != nil {
		t.Fatal(err)
	}
	j, err := o.job(t.Context(), &surroundings{getenv: os.Getenv, now: now})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestDeath verifies that on prism, which does not retry, a worker that dies in the middle of a
// bundle ends the job without a verdict and without files. If the same job is run again, it must
// have the result of an undisturbed job.
func TestDeath(t *testing.T) {
	l, err := lake.New(400, 3)
	if err != nil {
		t.Fatal(err)
	}
	dir, paths, _ := lay(t, l, 6, true, true, rand.New(rand.NewPCG(3, 4)))
	prefix := filepath.Join(t.TempDir(), "v")
	args := []string{"--input", filepath.Join(dir, "*.jsonl"), "--keys", fixture(t, lake.Keys), "--output", prefix}

	passed.Store(0)
	dead.Store(false)
	j := jobOf(t, args...)
	list, setting, err := j.elements()
	if err != nil {
		t.Fatal(err)
	}
	p, s := beam.NewPipelineWithRoot()
	layOut(s, beam.ParDo(s, &dying{After: 3}, beam.CreateList(s, list)), setting, false)
	if err := beamx.Run(t.Context(), p); err == nil || !strings.Contains(brief(err), "the worker dies") || strings.Contains(brief(err), "goroutine") {
		t.Fatalf("the job did not fail: %v", err)
	}
	if passed.Load() < 4 {
		t.Fatalf("%d elements had passed", passed.Load())
	}
	if names := left(t, filepath.Dir(prefix)); slices.ContainsFunc(names, func(n string) bool { return !strings.HasPrefix(n, "v.unfinished-") }) {
		t.Errorf("the files %s remain", names)
	}
	if err := j.setting.Outlet.clear(t.Context(), &j.buckets); err != nil {
		t.Fatal(err)
	}

	// The same pipeline now runs without a panic.
	p, s = beam.NewPipelineWithRoot()
	layOut(s, beam.ParDo(s, &dying{After: 3}, beam.CreateList(s, list)), setting, false)
	if err := beamx.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if err := j.publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	compare(t, readVerdict(t, prefix), verify(t, paths, stream.Options{}))
}

// A bundle contains the elements from one attempt. If a worker dies, its elements are dropped.
type bundle struct {
	records [][]byte
	others  []string
	dies    int // number of elements after which the worker dies; 0 means never
}

func (b *bundle) byID(_, record []byte)   { b.alone(record) }
func (b *bundle) text(_ int, text []byte) { b.others = append(b.others, string(text)) }
func (b *bundle) gaps(int, int64)         {}

func (b *bundle) alone(record []byte) {
	if b.records = append(b.records, record); len(b.records) == b.dies {
		panic("the worker dies")
	}
}

// attempt calls f and reports whether it panicked.
func attempt(t *testing.T, f func() error) (died bool) {
	t.Helper()
	defer func() { died = recover() != nil }()
	if err := f(); err != nil {
		t.Fatal(err)
	}
	return false
}

// TestRetries verifies that a worker that dies leaves nothing behind. Runners that retry a bundle
// drop its elements. A second or concurrent attempt must emit and write the same as an undisturbed
// attempt.
func TestRetries(t *testing.T) {
	l, err := lake.New(400, 5)
	if err != nil {
		t.Fatal(err)
	}
	dir, _, _ := lay(t, l, 1, false, true, rand.New(rand.NewPCG(5, 6)))
	j := jobOf(t, "--input", filepath.Join(dir, "*.jsonl"), "--keys", fixture(t, lake.Keys), "--output", filepath.Join(t.TempDir(), "v"))
	list, setting, err := j.elements()
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()

	// In the first pass, one worker dies and another does not.
	read := func(f *firstReading, b *bundle) func() error {
		return func() error { return f.ProcessElement(ctx, list[0], b.byID, b.alone, b.text, b.gaps) }
	}
	first := func() *firstReading {
		f := &firstReading{worker{Setting: setting}}
		if err := f.Setup(); err != nil {
			t.Fatal(err)
		}
		return f
	}
	undisturbed, survivor := &bundle{}, &bundle{}
	f := first()
	if attempt(t, read(first(), undisturbed)) || !attempt(t, read(f, &bundle{dies: 200})) || attempt(t, read(f, survivor)) {
		t.Fatal("another worker died")
	}
	if !slices.EqualFunc(undisturbed.records, survivor.records, slices.Equal[[]byte]) || !slices.Equal(undisturbed.others, survivor.others) || len(survivor.records) < 400 {
		t.Error("the second attempt of the first reading is another one")
	}

	// The counts of an abandoned bundle must not be included in the next bundle.
	count := &tally{}
	ignore := func(int, []byte) {}
	count.StartBundle(ignore, ignore)
	for _, r := range survivor.records[:100] {
		if err := count.ProcessElement(r, ignore, ignore); err != nil {
			t.Fatal(err)
		}
	}
	count.StartBundle(ignore, ignore)
	for _, r := range survivor.records {
		if err := count.ProcessElement(r, ignore, ignore); err != nil {
			t.Fatal(err)
		}
	}
	var counted join.Counts
	if err := count.FinishBundle(func(_ int, text []byte) {
		if err := json.Unmarshal(text, &counted); err != nil {
			t.Fatal(err)
		}
	}, ignore); err != nil || counted.Receipts != int64(len(survivor.records)) {
		t.Errorf("%d receipts were counted of %d: %v", counted.Receipts, len(survivor.records), err)
	}

	// The second pass writes either complete files or none.
	second := &secondReading{worker{Setting: setting}}
	if err := second.Setup(); err != nil {
		t.Fatal(err)
	}
	staged := func() map[string]string {
		files := map[string]string{}
		for _, name := range left(t, j.setting.Outlet.Staging) {
			text, err := os.ReadFile(filepath.Join(j.setting.Outlet.Staging, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(text)
		}
		return files
	}
	again := func(done func(int, []byte), inputs ...string) error {
		return second.ProcessElement(ctx, 0, texts(inputs), texts(nil), done)
	}

	// The worker dies once while it writes and once afterward.
	lost := strings.Replace(survivor.others[0], `"number":0`, `"number":1,"object":{"name":"lost","address":"mem://","version":7}`, 1)
	if err := again(nil, survivor.others[0], lost); err == nil || len(staged()) > 0 {
		t.Fatalf("%v, and %d files remain", err, len(staged()))
	}
	if !attempt(t, func() error { return again(func(int, []byte) { panic("the worker dies") }, survivor.others[0]) }) {
		t.Fatal("the worker lives")
	}
	before := staged()
	var told []string
	for range 2 {
		if err := again(func(_ int, text []byte) { told = append(told, string(text)) }, survivor.others[0]); err != nil {
			t.Fatal(err)
		}
	}
	if after := staged(); len(after) != 2 || !maps.Equal(before, after) || told[0] != told[1] {
		t.Errorf("attempts of the second reading differ: %d files, %d files, %s", len(before), len(after), told)
	}
}

// TestFileReplaced verifies that a file counts as replaced even if its new bytes contain the same
// receipts.
func TestFileReplaced(t *testing.T) {
	l, err := lake.New(400, 9)
	if err != nil {
		t.Fatal(err)
	}
	_, paths, _ := lay(t, l, 1, false, false, rand.New(rand.NewPCG(15, 16)))
	j := jobOf(t, "--input", paths[0], "--keys", fixture(t, lake.Keys), "--output", filepath.Join(t.TempDir(), "v"))
	list, setting, err := j.elements()
	if err != nil {
		t.Fatal(err)
	}
	one, two, found := &firstReading{worker{Setting: setting}}, &secondReading{worker{Setting: setting}}, &bundle{}
	if err := errors.Join(one.Setup(), two.Setup(), one.ProcessElement(t.Context(), list[0], found.byID, found.alone, found.text, found.gaps)); err != nil {
		t.Fatal(err)
	}
	for _, more := range []string{"", "\n"} {
		text, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		write(t, paths[0], append(text, more...))
		var s share
		err = two.ProcessElement(t.Context(), 0, texts(found.others), texts(nil), func(_ int, text []byte) { err = json.Unmarshal(text, &s) })
		if err != nil || (s.Changed != "") != (more != "") {
			t.Errorf("with %q after it: changed %q, %v", more, s.Changed, err)
		}
	}
}

// texts returns an iterator over strings, like the iterators that a runner supplies.
func texts(list []string) func(*[]byte) bool {
	return func(to *[]byte) bool {
		if len(list) == 0 {
			return false
		}
		*to, list = []byte(list[0]), list[1:]
		return true
	}
}
