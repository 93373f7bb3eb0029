package sqlite_test

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// TestSoak verifies that the memory use of several operations does not grow with the ledger. The
// operations are creating and checking a ledger, computing its tree, exporting it to an archive,
// and verifying the archive. All data is derived from the drafts, so the root is always the same.
// LEDGER_MILLION sets the number of receipts to 10⁶.
func TestSoak(t *testing.T) {
	size, want := 3_000, "ze5teBU0stDgJzLZP6rdhtWyzgcDV/zcQf6cFHZnP/8="
	if os.Getenv("LEDGER_MILLION") != "" {
		size, want = 1_000_000, "VvPLgWRVPIggHdlmn89mQzoFdrCv3rSLzZhN83QWC0c="
	} else if testing.Short() {
		t.Skip("it seals some thousand receipts")
	} else if !testsize.Full() {
		size, want = 1_100, "70LtBmacKX2wQr2+T4KIFfqAv6SBhGcD9wr4VpUPBkg="
	}
	ctx, dir := context.Background(), t.TempDir()
	var l *sqlite.Ledger
	var tree *merkle.Tree
	peak := highest(func() {
		l = grow(t, dir, size)
		v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		c, err := ledger.Check(ctx, l, v, func(f ledger.Fault) { t.Errorf("%+v", f) }, nil)
		if err != nil || c.Verified != size {
			t.Fatalf("%+v, %v", c, err)
		}
		if tree, err = ledger.Tree(ctx, l, ledger.Query{}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "all.cborseq")
		pack(t, l, path)
		again := new(merkle.Tree)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		run := stream.Verify(ctx, v, f, stream.Options{TempDir: dir})
		for rep := range run.Reports() {
			again.Append(receipt.CheckpointLeaf(rep.ReceiptHash))
		}
		sum, err := run.Summary()
		if err != nil || sum.Verified != size || len(sum.Streams) != 1 || sum.Streams[0].Head != c.Streams[0].Head.Hash {
			t.Errorf("%+v, %v", sum, err)
		}
		if again.Root() != tree.Root() {
			t.Errorf("the root over the archive is %v, over the ledger %v", again.Root(), tree.Root())
		}
	})
	defer l.Close()
	if t.Logf("%d receipts, %d MiB of memory", tree.Size(), peak>>20); peak > 96<<20 {
		t.Errorf("%d MiB of memory", peak>>20)
	}
	if got := tree.Root().String(); got != want {
		t.Errorf("the root is %s, expected %s", got, want)
	}
}

// pack writes all receipts in a ledger as a CBOR sequence.
func pack(t *testing.T, l *sqlite.Ledger, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out, codec, doc := bufio.NewWriter(f), archive.NewCodec(), new(canon.Document)
	var item []byte
	for e, err := range l.Walk(context.Background(), ledger.Query{}, 0) {
		if err == nil {
			err = doc.Parse(e.JSON, canon.Limits{})
		}
		if err == nil {
			item, err = codec.Append(item[:0], doc)
		}
		if err == nil {
			_, err = out.Write(item)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// highest returns the largest heap size that was measured while f ran.
func highest(f func()) (peak uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC()
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	f()
	close(done)
	group.Wait()
	return peak
}
