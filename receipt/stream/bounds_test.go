package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestRatio verifies that reading ends if the compression ratio of an input is too high. Receipts
// must not reach that ratio.
func TestRatio(t *testing.T) {
	bounds := stream.Bounds{Ratio: 100}
	list := jsonl(chained(t, 3000)...)
	nothing := `{"a":"` + strings.Repeat(" ", 250) + `"}` + "\n" // judging 4 MiB of these lines is fast
	for name, pack := range map[string]func(testing.TB, []byte) []byte{
		"gzip": gzipped, "zstd": func(t testing.TB, in []byte) []byte { return zstded(t, in) },
	} {
		r := verify(t, pack(t, list), stream.Options{Bounds: bounds})
		if r.err != nil || r.summary.Verified != 3000 {
			t.Errorf("%s of receipts: %v %v", name, r, r.err)
		}
		bomb := pack(t, bytes.Repeat([]byte(nothing), 1<<14))
		if r = verify(t, bomb, stream.Options{}); r.err != nil {
			t.Errorf("%s without bounds: %v", name, r.err)
		}
		r = verify(t, bomb, stream.Options{Bounds: bounds})
		var incomplete *stream.IncompleteError
		if !errors.As(r.err, &incomplete) || !strings.Contains(r.err.Error(), name+": it holds more than 100 bytes for each of its own") {
			t.Errorf("%s of nothing: %v", name, r.err)
		}
		if most := (1<<20 + 100*len(bomb) + 1<<20) / len(nothing); r.summary.Receipts > most {
			t.Errorf("%s: %d lines were judged of %d bytes", name, r.summary.Receipts, len(bomb))
		}
	}
}

// TestManyStreams verifies the joint limit on the number of streams and the length of their names.
func TestManyStreams(t *testing.T) {
	var few, many, long []byte
	for i := range 12 {
		line := jsonl(newWriter(t, fmt.Sprintf("issuer-%d", i)).next())
		if many = append(many, line...); i < 10 {
			few = append(few, line...)
		}
		long = append(long, jsonl(newWriter(t, fmt.Sprint(i, strings.Repeat("x", 2000))).next())...)
	}
	o := stream.Options{Bounds: stream.Bounds{Streams: 10}}
	if r := verify(t, few, o); r.err != nil || r.summary.Verified != 10 {
		t.Errorf("ten: %v %v", r, r.err)
	}
	if r := verify(t, many, o); !errors.Is(r.err, stream.ErrManyStreams) || r.summary.Complete {
		t.Errorf("twelve: %v", r.err)
	}
	if r := verify(t, long, o); !errors.Is(r.err, stream.ErrManyStreams) {
		t.Errorf("long names: %v", r.err)
	}
	if r := verify(t, many, stream.Options{}); r.err != nil {
		t.Errorf("without bounds: %v", r.err)
	}
}

// TestTurn verifies that large documents wait for their turn, that small documents do not wait, and
// that the run ends if Turn returns an error.
func TestTurn(t *testing.T) {
	large := `{"schema":"receipt-2026-04-25","a":[` + strings.Repeat("1,", stream.LargeDocument/2) + `1]}`
	input := []byte(strings.Repeat("{}\n"+large+"\n", 5))
	var mu sync.Mutex
	var turns, inside, most int
	o := stream.Options{Jobs: 4}
	o.Bounds.Turn = func(_ context.Context, size int64) (func(), error) {
		mu.Lock()
		defer mu.Unlock()
		if turns++; size < 10*stream.LargeDocument {
			t.Errorf("a turn of %d bytes", size)
		}
		inside++
		most = max(most, inside)
		return func() { mu.Lock(); inside--; mu.Unlock() }, nil
	}
	if r := verify(t, input, o); r.err != nil || r.summary.Receipts != 10 || turns != 5 || inside != 0 || most == 0 {
		t.Errorf("%v, %v, %d turns, %d not left", r, r.err, turns, inside)
	}
	refused := errors.New("no turn")
	o.Bounds.Turn = func(context.Context, int64) (func(), error) { return nil, refused }
	if r := verify(t, input, o); !errors.Is(r.err, refused) || r.summary.Complete {
		t.Errorf("refused: %v", r.err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Bounds.Turn = func(ctx context.Context, _ int64) (func(), error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if r := collect(stream.Verify(ctx, integrity(t), bytes.NewReader(input), o)); !errors.Is(r.err, context.Canceled) {
		t.Errorf("given up: %v", r.err)
	}
}

// TestLargeInFlight verifies that only a few large documents are in memory at the same time,
// regardless of the number of jobs. Batches must not keep the long strings in these documents.
func TestLargeInFlight(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	if testing.Short() || raceEnabled {
		t.Skip("reads a gigabyte")
	}
	const length = 4 << 20
	lines := 40 // more lines than there are batches
	if testsize.Full() {
		lines = 80
	}
	line := `{"schema":"receipt-2026-04-25","receipt_id":"r","issuer":{"id":"` + strings.Repeat("x", length) +
		`"},"chain":{"receipt_hash":"sha256:` + strings.Repeat("0", 64) + `","previous_receipt_hash":null}}` + "\n"
	var in []io.Reader
	for range lines {
		in = append(in, strings.NewReader("{}\n{}\n"), strings.NewReader(line))
	}
	one := make(chan struct{}, 1)
	o := stream.Options{Jobs: 16}
	o.Bounds.Turn = func(context.Context, int64) (func(), error) {
		one <- struct{}{}
		return func() { <-one }, nil
	}
	var r result
	most := watch(100, func() { r = collect(stream.Verify(t.Context(), integrity(t), io.MultiReader(in...), o)) })
	if r.err != nil || r.summary.Receipts != 3*lines || r.summary.Verdict() != receipt.Refuted {
		t.Fatalf("%v %v", r.summary, r.err)
	}
	if most > 180<<20 { // 32 MiB of lines in flight, one line being read, one being verified, and the same amount of garbage
		t.Errorf("%d MiB", most>>20)
	} else {
		t.Logf("%d MiB", most>>20)
	}
}
