package main

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/stream/join"
)

// ofAll is the one key of what is about all inputs.
const ofAll = 0

// What marks on their way to the second reading begin with.
const (
	ofLink byte = iota // what the groupings found of a link
	ofCopy             // which receipt is the same
)

// idGroup finds copies, and ids with two contents.
type idGroup struct{}

// ProcessElement gets all records of one id.
func (*idGroup) ProcessElement(_ []byte, records func(*[]byte) bool, done func([]byte), on func([]byte), marks func(int, []byte)) error {
	list, err := parsed(records, join.Parse)
	if err != nil {
		return err
	}
	finished, open := join.IDs(list)
	emitRecords(finished, done)
	emitRecords(open, on)

	// Each report of a copy, whether it counts or not, names the one that was read first.
	original := map[canon.Digest]join.Place{}
	for _, r := range list {
		if first, there := original[r.Computed]; !there || before(r.Place, first) {
			original[r.Computed] = r.Place
		}
	}
	for _, r := range list {
		if r.Related = original[r.Computed]; r.Related != r.Place {
			marks(r.Related.Source, append([]byte{ofCopy}, r.Append(nil)...))
		}
	}
	return nil
}

func before(a, b join.Place) bool {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Index, b.Index)) < 0
}

// dealParts gives a record all its roles in the next grouping.
type dealParts struct{}

// ProcessElement deals one record out.
func (*dealParts) ProcessElement(record []byte, byDigest func([]byte, []byte)) error {
	r, err := join.Parse(record)
	if err != nil {
		return err
	}
	for _, p := range r.Parts() {
		d := p.Digest()
		byDigest(d[:], p.Append(nil))
	}
	return nil
}

// digestGroup finds breaks, forks, links into other streams, and ends.
type digestGroup struct {
	grouping
}

// ProcessElement gets all parts that one digest is about.
func (g *digestGroup) ProcessElement(_ []byte, parts func(*[]byte) bool, done func([]byte), open func([]byte, []byte), strand func([]byte, []byte)) error {
	list, err := parsed(parts, join.ParsePart)
	if err != nil {
		return err
	}

	finished, left, strands := join.Links(list, g.terms)
	emitRecords(finished, done)
	for i := range left {
		open(join.StreamKey(left[i].Stream), left[i].Append(nil))
	}
	for i := range strands {
		strand(join.StreamKey(strands[i].Stream), strands[i].Append(nil))
	}
	return nil
}

// addStrands adds the strands of a stream up: as many as its receipts.
type addStrands struct{}

// MergeAccumulators adds two; no bytes are no strand.
func (*addStrands) MergeAccumulators(a, b []byte) ([]byte, error) {
	switch {
	case len(a) == 0:
		return b, nil
	case len(b) == 0:
		return a, nil
	}
	sum, err := join.ParseStrand(a)
	if err != nil {
		return nil, err
	}
	more, err := join.ParseStrand(b)
	if err != nil {
		return nil, err
	}
	sum.Add(&more)
	return sum.Append(nil), nil
}

// streamGroup finds what begins each stream, and its head.
type streamGroup struct {
	grouping
}

// ProcessElement gets the sums of one stream, and what was left open of it.
func (g *streamGroup) ProcessElement(_ []byte, sums, parts func(*[]byte) bool, done func([]byte), missing func(int, []byte), strand func(int, []byte)) error {
	var text []byte
	if !sums(&text) {
		return nil
	}
	sum, err := join.ParseStrand(text)
	if err != nil {
		return err
	}
	open, err := parsed(parts, join.ParsePart)
	if err != nil {
		return err
	}

	finished, ends := join.Begin(sum, open, g.terms)
	for i := range finished {
		r := &finished[i]
		if r.Mark == join.MarkMissing {
			missing(ofAll, r.Append(nil))
		} else {
			done(r.Append(nil))
		}
	}
	strand(ofAll, ends.Append(nil))
	return nil
}

// forgive leaves as many missing predecessors open as there were documents that may be
// one of them.
type forgive struct{}

// ProcessElement gets what misses its predecessor, and what was found of all inputs.
func (*forgive) ProcessElement(_ int, missing func(*[]byte) bool, gaps func(*int64) bool, done func([]byte), strand func(int, []byte)) error {
	records, err := parsed(missing, join.Parse)
	if err != nil {
		return err
	}
	n := int64(0)
	for more := int64(0); gaps(&more); {
		n += more
	}

	// Without gaps nothing is forgiven.
	finished, failures := records, []join.Strand(nil)
	if n > 0 {
		finished, failures = join.Forgive(records, n)
	}
	emitRecords(finished, done)
	for i := range failures {
		strand(ofAll, failures[i].Append(nil))
	}
	return nil
}

func emitRecords(list []join.Record, emit func([]byte)) {
	for i := range list {
		emit(list[i].Append(nil))
	}
}
