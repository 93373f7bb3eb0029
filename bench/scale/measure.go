package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures"
	"github.com/receiptkit/receiptkit/fixtures/lake"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// A deal is a set of files that contain receipts.
type deal struct {
	dir     string
	parts   []string
	planted map[receipt.Code]int
	expect  map[chain.Stream]chain.Head
	bytes   int64
}

// write distributes about n receipts over parts. It generates the receipts in lakes of 10,000, so
// that at most one lake is in memory.
func write(dir string, n, parts int) (*deal, error) {
	d := &deal{dir: dir, planted: map[receipt.Code]int{}, expect: map[chain.Stream]chain.Head{}}
	files := make([]*os.File, parts)
	for i := range files {
		d.parts = append(d.parts, filepath.Join(dir, fmt.Sprintf("part-%03d.jsonl", i)))
		f, err := os.Create(d.parts[i])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		files[i] = f
	}

	dice := rand.New(rand.NewPCG(1, uint64(n)))
	for k := range n / 10_000 {
		l, err := lake.NewNamed(fmt.Sprintf("l%d_", k), 10_000, uint64(k))
		if err != nil {
			return nil, err
		}
		texts, _ := l.Deal(parts, true, false, dice)
		for i, text := range texts {
			d.bytes += int64(len(text))
			if _, err := files[i].Write(text); err != nil {
				return nil, err
			}
		}
		for code, n := range l.Codes {
			d.planted[code] += n
		}
		for s, head := range l.Expect {
			d.expect[s] = head
		}
	}
	return d, nil
}

func (d *deal) sources() (list []stream.Source) {
	for _, path := range d.parts {
		list = append(list, sourceOf(path))
	}
	return list
}

func sourceOf(path string) stream.Source {
	return stream.Source{Name: path, Open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

func verifier() (*receipt.Verifier, error) {
	data, err := fixtures.Read(lake.Keys)
	if err != nil {
		return nil, err
	}
	set, err := keys.ParseSet(data)
	if err != nil {
		return nil, err
	}
	return receipt.NewVerifier(set, receipt.Policy{NoInputDigest: true})
}

// measure measures the processor times for a given number of receipts on one core. It returns an
// error if a result differs from the planted faults.
func measure(n, parts, shards int) (m measured, err error) {
	dir, err := os.MkdirTemp("", "receipt-scale-")
	if err != nil {
		return m, err
	}
	defer os.RemoveAll(dir)
	d, err := write(dir, n, parts)
	if err != nil {
		return m, err
	}
	v, err := verifier()
	if err != nil {
		return m, err
	}
	runtime.GC()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))

	m.bytes = d.bytes
	if m.read, err = timed(func() error { return readAll(d.parts) }); err != nil {
		return m, err
	}
	var whole, joined *stream.Summary
	m.machine, err = timed(func() (err error) {
		whole, err = stream.VerifyFiles(context.Background(), v, d.sources(), stream.Options{Jobs: 1, Unordered: true, TempDir: dir, Continuity: stream.Continuity{Expect: d.expect}}).Summary()
		return err
	})
	if err != nil {
		return m, err
	}
	m.documents = whole.Receipts + whole.Copies

	e := &engine{dir: dir, shards: shards, expect: d.expect}
	if m.verify, err = timed(func() error { return e.verify(v, d.parts) }); err != nil {
		return m, err
	}
	m.group, err = timed(func() (err error) { joined, err = e.join(v); return err })
	m.shuffled = e.shuffled
	if err != nil {
		return m, err
	}
	return m, agree(whole, joined, d.planted)
}

// agree returns an error unless the engine and a single machine report the same results, and both
// report the planted faults.
func agree(whole, joined *stream.Summary, planted map[receipt.Code]int) error {
	var said [2]map[string]any
	for i, s := range []*stream.Summary{whole, joined} {
		text, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &said[i]); err != nil {
			return err
		}
		delete(said[i], "roster")
		delete(said[i], "inputs")
	}
	if !reflect.DeepEqual(said[0], said[1]) {
		return errors.New("an engine has no result for one machine")
	}
	for code, n := range planted {
		if code != receipt.CodeTruncated && whole.Codes[code] != n {
			return fmt.Errorf("%d receipts were found with %s, and %d planted", whole.Codes[code], code, n)
		}
	}
	return nil
}

// timed returns the processor time of f.
func timed(f func() error) (time.Duration, error) {
	begun := race.Clock()
	err := f()
	return max(race.Clock()-begun, time.Microsecond), err
}

// readAll reads files that were just written, so they are in the page cache.
func readAll(paths []string) error {
	buffer := make([]byte, 1<<20)
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, buffer)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
