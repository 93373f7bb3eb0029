package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// An engine works like Beam or Spark, with one worker at a time. It writes records to files by key,
// and then sorts and joins each file separately. At most one of the files is in memory.
type engine struct {
	dir      string
	shards   int
	expect   map[chain.Stream]chain.Head
	shuffled int64

	ids, digests, streams *shuffle
	counts                join.Counts
	strands               map[chain.Stream]*join.Strand
}

// A shuffle is a set of files that contain entries, divided by key. An entry consists of the
// lengths of the key and the value, the key, and the value.
type shuffle struct {
	seed  maphash.Seed
	files []*os.File
	out   []*bufio.Writer
	bytes *int64
}

func (e *engine) shuffle(name string) (*shuffle, error) {
	s := &shuffle{seed: maphash.MakeSeed(), bytes: &e.shuffled}
	for i := range e.shards {
		f, err := os.Create(filepath.Join(e.dir, fmt.Sprintf("%s-%d", name, i)))
		if err != nil {
			return nil, err
		}
		s.files, s.out = append(s.files, f), append(s.out, bufio.NewWriterSize(f, 64<<10))
	}
	return s, nil
}

func (s *shuffle) add(key, value []byte) error {
	out := s.out[maphash.Bytes(s.seed, key)%uint64(len(s.out))]
	head := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(key))), uint64(len(value)))
	*s.bytes += int64(len(head) + len(key) + len(value))
	_, err := out.Write(slices.Concat(head, key, value))
	return err
}

// groups calls f with the values for each key.
func (s *shuffle) groups(f func(values [][]byte) error) error {
	for i, file := range s.files {
		if err := s.out[i].Flush(); err != nil {
			return err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		data, err := io.ReadAll(file)
		if err != nil {
			return err
		}
		if err := groupsOf(data, f); err != nil {
			return err
		}
		if err := errors.Join(file.Close(), os.Remove(file.Name())); err != nil {
			return err
		}
	}
	return nil
}

func groupsOf(data []byte, f func(values [][]byte) error) error {
	type entry struct{ key, value []byte }
	var list []entry
	for len(data) > 0 {
		key, n := binary.Uvarint(data)
		value, m := binary.Uvarint(data[max(n, 0):])
		if n <= 0 || m <= 0 || key+value > uint64(len(data)-n-m) {
			return errors.New("a shuffled file differs from the written one")
		}
		data = data[n+m:]
		list = append(list, entry{data[:key], data[key : key+value]})
		data = data[key+value:]
	}
	slices.SortFunc(list, func(a, b entry) int { return bytes.Compare(a.key, b.key) })

	var values [][]byte
	for i := range list {
		values = append(values, list[i].value)
		if i+1 == len(list) || !bytes.Equal(list[i].key, list[i+1].key) {
			if err := f(values); err != nil {
				return err
			}
			values = values[:0]
		}
	}
	return nil
}

// verify verifies each part separately, and shuffles the records for the joins.
func (e *engine) verify(v *receipt.Verifier, parts []string) (err error) {
	e.strands = map[chain.Stream]*join.Strand{}
	for to, name := range map[**shuffle]string{&e.ids: "ids", &e.digests: "digests", &e.streams: "streams"} {
		if *to, err = e.shuffle(name); err != nil {
			return err
		}
	}

	var text []byte
	for i, path := range parts {
		place := func(r *join.Record) error {
			if r == nil {
				return errors.New("a document states no place")
			}
			own := *r
			own.Place.Source = i
			id, ok := own.Key()
			if !ok {
				return e.part(&own)
			}
			text = own.Append(text[:0])
			return e.ids.add(id[:], text)
		}
		sum, err := stream.Records(context.Background(), v, []stream.Source{sourceOf(path)}, stream.Options{Jobs: 1}, nil, place).Summary()
		if err != nil {
			return err
		}
		e.counts.Leave(sum.Unchecked, sum.Withheld)
	}
	return nil
}

// part shuffles a record by the digests that the receipt states and names.
func (e *engine) part(r *join.Record) error {
	for _, p := range r.Parts() {
		digest := p.Digest()
		if err := e.digests.add(digest[:], p.Append(nil)); err != nil {
			return err
		}
	}
	return nil
}

// join joins the shuffled records in three groupings.
func (e *engine) join(v *receipt.Verifier) (*stream.Summary, error) {
	terms := join.Terms{Head: func(s chain.Stream) canon.Digest { return e.expect[s].Hash }}
	err := e.ids.groups(func(values [][]byte) error {
		group, err := parse(values, join.Parse)
		if err != nil {
			return err
		}
		done, on := join.IDs(group)
		e.count(done)
		for i := range on {
			if err := e.part(&on[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}

	err = e.digests.groups(func(values [][]byte) error {
		group, err := parse(values, join.ParsePart)
		if err != nil {
			return err
		}
		done, open, strands := join.Links(group, terms)
		e.count(done)
		for i := range strands {
			if e.strands[strands[i].Stream] == nil {
				e.strands[strands[i].Stream] = &join.Strand{}
			}
			e.strands[strands[i].Stream].Add(&strands[i])
		}
		for i := range open {
			if err := e.streams.add(join.StreamKey(open[i].Stream), open[i].Append(nil)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e.end(v, terms)
}

// end completes the streams and returns the summary.
func (e *engine) end(v *receipt.Verifier, terms join.Terms) (*stream.Summary, error) {
	result := &join.Result{}
	err := e.streams.groups(func(values [][]byte) error {
		open, err := parse(values, join.ParsePart)
		if err != nil {
			return err
		}
		s := e.strands[open[0].Stream]
		done, strand := join.Begin(*s, open, terms)
		e.count(done)
		result.Strands = append(result.Strands, strand)
		return nil
	})
	if err != nil {
		return nil, err
	}
	result.Counts = e.counts
	return stream.Conclude(v, result, stream.Options{Continuity: stream.Continuity{Expect: e.expect}}, nil)
}

func (e *engine) count(done []join.Record) {
	for i := range done {
		e.counts.Record(&done[i], false)
	}
}

func parse[T any](values [][]byte, one func([]byte) (T, error)) ([]T, error) {
	list := make([]T, 0, len(values))
	for _, b := range values {
		v, err := one(b)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
