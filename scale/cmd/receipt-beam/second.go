package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/internal/rows"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/parquet"
)

// A mark contains the result of the groupings for a receipt, in the form that the second pass
// needs.
type mark struct {
	About   byte          `json:"about"` // ofLink or ofCopy
	Record  []byte        `json:"record"`
	Related receipt.Place `json:"related"` // the receipt that it concerns, as named in reports
}

// A deal identifies the receipts to which marks refer, and distributes inputs and marks over the
// shares.
type deal struct {
	worker
}

// ProcessElement receives one input and the marks that refer to receipts in it.
func (d *deal) ProcessElement(source int, readings, records func(*[]byte) bool, inputs, marks func(int, []byte)) error {
	var text []byte
	var found first
	if !readings(&text) {
		return fmt.Errorf("input %d was not read", source)
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return err
	}
	inputs(source/d.run.Share, text)

	for text := []byte(nil); records(&text); {
		r, err := join.Parse(text[1:])
		if err != nil {
			return err
		}
		m := mark{About: text[0], Record: text[1:]}
		if r.Related != (join.Place{}) && (m.About == ofCopy || r.Mark != join.MarkCopy) {
			m.Related.Source = found.Input.name()
			if found.Docs > 1 {
				m.Related.Index = r.Related.Index
			}
		}
		if err := emitJSON(marks, r.Place.Source/d.run.Share, m); err != nil {
			return err
		}
	}
	return nil
}

// A share contains the result of the second pass over some of the inputs.
type share struct {
	Number  int    `json:"number"`
	Reports int    `json:"reports"`          // number of receipts that are not verified
	Changed string `json:"changed,omitzero"` // an input that was replaced between the passes
}

// A secondReading writes the rows and the reports for a share.
type secondReading struct {
	worker
}

// ProcessElement reads the inputs in a share.
func (f *secondReading) ProcessElement(ctx context.Context, number int, inputs, marks func(*[]byte) bool, done func(int, []byte)) error {
	s := &shareReader{secondReading: f, marks: map[join.Place]marked{}, copies: map[join.Place]receipt.Place{}, out: share{Number: number}}
	list, err := s.gather(inputs, marks)
	if err != nil {
		return err
	}

	table, err := f.run.Outlet.create(ctx, &f.reader.buckets, rowsName(number, f.run.Shares+1))
	if err != nil {
		return err
	}
	defer table.abandon()
	reports, err := f.run.Outlet.create(ctx, &f.reader.buckets, stagedReports(number))
	if err != nil {
		return err
	}
	defer reports.abandon()

	s.rows, s.reports = parquet.NewWriter(table), bufio.NewWriter(reports)
	for i := range list {
		if err := s.read(ctx, &list[i]); err != nil {
			return fmt.Errorf("%s: %w", list[i].Input.name(), err)
		}
	}
	if err := errors.Join(s.rows.Close(), s.reports.Flush()); err != nil {
		return err
	}
	if err := errors.Join(table.keep(), reports.keep()); err != nil {
		return err
	}
	return emitJSON(done, ofAll, s.out)
}

// stagedReports returns the name of the file that contains a share's reports until they are
// concatenated.
func stagedReports(number int) string { return fmt.Sprintf("reports-%05d.ndjson", number) }

// A shareReader reads one share.
type shareReader struct {
	*secondReading
	marks   map[join.Place]marked
	copies  map[join.Place]receipt.Place // maps each copy to its original
	rows    *parquet.Writer
	reports *bufio.Writer
	line    []byte
	out     share
}

type marked struct {
	mark
	record join.Record
}

// gather returns the inputs in order, and stores the marks.
func (s *shareReader) gather(inputs, marks func(*[]byte) bool) (list []first, err error) {
	if list, err = parsed(inputs, fromJSON[first]); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b first) int { return cmp.Compare(a.Input.Number, b.Input.Number) })
	for text := []byte(nil); marks(&text); {
		var m marked
		if m.mark, err = fromJSON[mark](text); err != nil {
			return nil, err
		}
		if m.record, err = join.Parse(m.Record); err != nil {
			return nil, err
		}
		if m.About == ofCopy {
			s.copies[m.record.Place] = m.Related
		} else {
			s.marks[m.record.Place] = m
		}
	}
	return list, nil
}

// read reads one input again, and checks that it has not changed since the first pass.
func (s *shareReader) read(ctx context.Context, in *first) error {
	source, _, err := s.reader.source(ctx, in.Input)
	if err != nil {
		return err
	}
	sum, at := sha256.New(), join.Place{} // position of the receipt in the next report; zero if the receipt states no position
	options := s.run.options()
	options.Extract = rows.Extract
	place := func(r *join.Record) error {
		if at = (join.Place{}); r == nil {
			return nil
		}
		at = join.Place{Source: in.Input.Number, Index: r.Place.Index}
		if m, found := s.marks[at]; found {
			r.Mark, r.Related = m.record.Mark, m.record.Related
		}
		return nil
	}
	run := stream.Records(ctx, s.verifier, []stream.Source{hashed(source, sum)}, options, in.Input.Tree, place)
	for rep := range run.Reports() {
		s.name(rep, at)
		if err := s.write(rep); err != nil {
			return err
		}
	}

	_, err = run.Summary()
	var incomplete *stream.IncompleteError
	if err != nil && !errors.Is(err, stream.ErrChanged) && !errors.As(err, &incomplete) {
		return err
	}
	if errors.Is(err, stream.ErrChanged) || !bytes.Equal(sum.Sum(nil), in.SHA256) {
		s.out.Changed = in.Input.name()
	}
	return nil
}

// name corrects the parts of a report that name another receipt, because that receipt may be in
// another input. Package stream reads only one input, so it describes the link as if that receipt
// were in the same input.
func (s *shareReader) name(rep *receipt.Report, at join.Place) {
	if m := s.marks[at]; (m.Related != receipt.Place{}) {
		s.reword(rep, m.Related)
	}
	same, copied := s.copies[at]
	rep.Warnings = slices.DeleteFunc(rep.Warnings, func(n receipt.Note) bool { return n.Code == identicalCopy })
	if copied {
		rep.Warnings = append(rep.Warnings, receipt.Note{Code: identicalCopy, Detail: same.String() + " is the same receipt"})
	}
}

// reword replaces the description of an invalid link.
func (s *shareReader) reword(rep *receipt.Report, related receipt.Place) {
	for i := range rep.Checks {
		c := rep.Checks[i]
		if c.Step != receipt.StepLink || c.Status != receipt.StatusFailed || c.Cause == "" || c.Cause == zeroHash {
			continue
		}
		c.Related, c.Detail, c.Reason = related, "", ""
		rep.Checks[i] = receipt.Check{Step: receipt.StepLink, Status: receipt.StatusNotChecked, Code: receipt.CodeLinkNotChecked}
		s.verifier.Amend(rep, c)
	}
}

const identicalCopy receipt.Code = "identical_copy"

// zeroHash is the cause of a link that is invalid regardless of all other receipts.
const zeroHash receipt.Cause = "zero_hash"

// write writes a row for every receipt and the report on each receipt that is not verified.
func (s *shareReader) write(rep *receipt.Report) error {
	if err := s.rows.Write(rows.Of(rep)); err != nil {
		return err
	}
	if rep.Verdict == receipt.Verified {
		return nil
	}

	var err error
	if s.line, err = receipt.AppendJSON(s.line[:0], rep); err != nil {
		return err
	}
	s.out.Reports++
	_, err = s.reports.Write(append(s.line, '\n'))
	return err
}
