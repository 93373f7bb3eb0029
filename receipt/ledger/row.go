package ledger

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Row contains everything that a database stores for a receipt: the receipt as JSON, and the
// columns that are used to find it.
type Row struct {
	Sequence int64  // number of the receipt in the order in which receipts were stored, from 1; there may be gaps
	Position uint64 // position in the stream, from 1

	// RowsOf computes the following columns from the receipt. If a receipt has no task or session
	// ID, the column is "".
	ID       string // receipt_id
	Task     string // identifiers.task_id
	Subject  string // the task that is the subject, if it differs from Task
	Session  string // identifiers.session_id
	IssuedAt int64  // milliseconds since 1970 (UTC)
	Stream   chain.Stream
	chain.Link

	JSON   []byte // the receipt as stored; nil if it was pruned
	Pruned bool   // the content of the receipt is in an archive
	Place  *Place // the place of the row; nil if the place was not read
}

// A Place describes the stream of a row and the previous row in that stream, according to the
// database.
type Place struct {
	Head     chain.Head   // head of the row's stream; zero if there is no such stream
	Before   int64        // sequence number of the previous row in the stream; 0 if there is none
	Previous canon.Digest // hash of the previous row in the stream
}

// A Run contains receipts of one stream, each of which follows the previous one.
type Run struct {
	Stream   chain.Stream
	Previous chain.Head // the head that the first receipt follows
	Receipts []*receipt.Sealed
}

// RowsOf returns the rows that a Store must store for runs, without Sequence and Position. If two
// receipts have the same ID, the error is ErrDuplicateID. If a receipt does not belong to its
// stream or does not follow the previous receipt, the error wraps ErrNotStored. A Store must call
// RowsOf before it appends anything.
func RowsOf(runs ...Run) ([][]Row, error) {
	ids := map[string]bool{}
	all := make([][]Row, len(runs))
	for n, run := range runs {
		all[n] = make([]Row, len(run.Receipts))
		last := run.Previous.Hash
		for i, r := range run.Receipts {
			row := &all[n][i]
			if err := row.of(r.Document(), r.JSON()); err != nil {
				return nil, fmt.Errorf("%w: receipt %.200q: %w", ErrNotStored, r.ID(), err)
			}
			if ids[row.ID] {
				return nil, ErrDuplicateID
			}
			if row.Stream != run.Stream || !follows(row.Link, last) {
				return nil, fmt.Errorf("%w: receipt %.200q does not follow the previous receipt of its stream", ErrNotStored, row.ID)
			}
			ids[row.ID], last = true, row.Hash
		}
	}
	return all, nil
}

// follows reports whether a link names the given hash as the predecessor. The zero hash means that
// there is no predecessor.
func follows(l chain.Link, previous canon.Digest) bool {
	if previous == (canon.Digest{}) {
		return l.First
	}
	return !l.First && l.Previous == previous
}

// of fills in the columns of the row from a receipt.
func (r *Row) of(doc *canon.Document, json []byte) error {
	link, ok := chain.LinkOf(doc)
	if !ok {
		return errors.New("it has no hash")
	}
	root := doc.Root()
	at, err := receipt.ParseTime(root.Member("issued_at").String())
	if err != nil {
		return err
	}

	*r = Row{
		ID:      root.Member("receipt_id").String(),
		Task:    root.Member("identifiers").Member("task_id").String(),
		Session: root.Member("identifiers").Member("session_id").String(),

		IssuedAt: at.UnixMilli(), Stream: chain.StreamOf(doc), Link: link, JSON: json,
	}

	// A receipt can be found both by the task that is its subject and by the task to which it
	// belongs.
	if subject := root.Member("subject"); subject.Member("object").String() == "task" {
		if id := subject.Member("id").String(); id != r.Task {
			r.Subject = id
		}
	}
	return nil
}

// Intact returns a *[Fault] if a row was altered. It compares the row with its receipt and its
// place. It does not check whether the content of the receipt matches its hash.
func (r *Row) Intact() error {
	var fault *Fault
	if r.Pruned {
		fault = r.empty()
	} else {
		fault = r.fits()
	}
	if fault == nil && r.Place != nil {
		fault = r.placed()
	}
	if fault == nil {
		return nil // a nil *Fault would not be a nil error
	}
	return fault
}

// empty checks that a row has no content if it is marked as pruned.
func (r *Row) empty() *Fault {
	if len(r.JSON) > 0 {
		return r.fault(FaultRow, "it is recorded as pruned, but its content is present")
	}
	return nil
}

// fits compares a row with the receipt in the row.
func (r *Row) fits() *Fault {
	doc, err := canon.Parse(r.JSON)
	var own Row
	if err == nil {
		err = own.of(doc, r.JSON)
	}
	if err != nil {
		return r.unreadable(err)
	}
	if columns := r.differences(&own); len(columns) > 0 {
		return r.fault(FaultRow, otherColumn, columns[0])
	}
	return nil
}

const otherColumn = "its row has another %s than the receipt"

// differences returns the names of the columns in which a row differs from its receipt.
func (r *Row) differences(own *Row) (columns []string) {
	for _, column := range []struct {
		name    string
		differs bool
	}{
		{"receipt_id", own.ID != r.ID},
		{"task", own.Task != r.Task},
		{"subject", own.Subject != r.Subject},
		{"session", own.Session != r.Session},
		{"issued_at", own.IssuedAt != r.IssuedAt},
		{"hash or previous", own.Link != r.Link},
		{"stream", own.Stream != r.Stream},
	} {
		if column.differs {
			columns = append(columns, column.name)
		}
	}
	return columns
}

// placed checks the position of a row. The row must come directly after the row that its receipt
// names as the predecessor, and must have been stored after it. The hash of the last row in a
// stream must be the hash of the head.
func (r *Row) placed() *Fault {
	first, p := r.Position == 1, r.Place
	switch {
	case r.Position == 0 || r.Position > p.Head.Count:
		return r.fault(FaultRow, "row is after the end of every stream")
	case first != r.First, !first && (p.Before == 0 || p.Previous != r.Previous):
		return r.fault(string(receipt.CodeChainBreak), "the receipt that it follows is not at number %d of its stream", r.Position-1)
	case !first && p.Before >= r.Sequence:
		return r.fault(FaultRow, "its row was stored before the receipt that it follows")
	case r.Position == p.Head.Count && p.Head.Hash != r.Hash:
		return r.fault(string(receipt.CodeHeadMismatch), "it is the last of its stream, whose head is recorded as %v", p.Head.Hash)
	}
	return nil
}

// fault returns a fault for the row.
func (r *Row) fault(code, format string, args ...any) *Fault {
	return &Fault{Code: code, ID: r.ID, Stream: r.Stream, Position: r.Position, Detail: fmt.Sprintf(format, args...)}
}

// unreadable returns a fault with the reason why the JSON in a row is not a receipt.
func (r *Row) unreadable(err error) *Fault {
	code := string(receipt.CodeNotAReceipt)
	if syntax, ok := errors.AsType[*canon.SyntaxError](err); ok {
		code = string(syntax.Code)
	}
	return r.fault(code, "%v", err)
}

// misled returns the fault for a row that was found through an index but does not match the key.
func (r *Row) misled() *Fault { return r.fault(FaultFile, "an index leads to it that should not") }

// refuted returns a failed check for the link of a receipt whose position is invalid.
func (r *Row) refuted(code receipt.Code, cause receipt.Cause, detail string) receipt.Check {
	c := receipt.Check{Status: receipt.StatusFailed, Code: code, Pointer: "/chain/previous_receipt_hash", Stated: "null", Cause: cause, Detail: detail}
	if !r.First {
		c.Stated = r.Previous.String()
	}
	return c
}

// Cursor returns a cursor that points directly after the receipt. List accepts it with any query.
func (r *Row) Cursor() string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64([]byte{cursorVersion}, uint64(r.Sequence)))
}
