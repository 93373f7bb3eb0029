package main

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/join"
)

// ofAll is the single key of values that concern all inputs.
const ofAll = 0

// These are the possible values of the first byte of a mark that is sent to the second pass.
const (
	ofLink byte = iota // the result of the groupings for a link
	ofCopy             // the original receipt of which this receipt is a copy
)

// idGroup finds copies, and IDs that receipts with different content share.
type idGroup struct{}

// ProcessElement receives all records with the same ID.
func (*idGroup) ProcessElement(_ []byte, records func(*[]byte) bool, done func([]byte), on func([]byte), marks func(int, []byte)) error {
	list, err := parsed(records, join.Parse)
	if err != nil {
		return err
	}
	finished, open := join.IDs(list)
	emitRecords(finished, done)
	emitRecords(open, on)

	// The report on each copy names the receipt that was read first, whether or not the copy is
	// counted.
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

// dealParts emits a record once for each of its roles in the next grouping.
type dealParts struct{}

// ProcessElement emits the parts of a record.
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

// digestGroup finds breaks, forks, links to other streams, and heads.
type digestGroup struct {
	grouping
}

// ProcessElement receives all parts that concern the same digest.
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

// addStrands combines the strands of a stream. There is one strand per receipt.
type addStrands struct{}

// MergeAccumulators adds two strands. An empty accumulator stands for no strand.
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

// streamGroup finds the beginning and the head of each stream.
type streamGroup struct {
	grouping
}

// ProcessElement receives the sums for one stream, and the parts of the stream that are still open.
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

// forgive leaves missing predecessors unchecked, but at most as many as there are documents that
// may be missing predecessors.
type forgive struct{}

// ProcessElement receives the records with a missing predecessor, and the gaps in all inputs.
func (*forgive) ProcessElement(_ int, missing func(*[]byte) bool, gaps func(*int64) bool, done func([]byte), strand func(int, []byte)) error {
	records, err := parsed(missing, join.Parse)
	if err != nil {
		return err
	}
	n := int64(0)
	for more := int64(0); gaps(&more); {
		n += more
	}

	// If there are no gaps, nothing is forgiven.
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
