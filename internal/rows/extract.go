package rows

import (
	"encoding/binary"
	"math"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// Extract appends the data about a document that [Of] needs in addition to the report. Pass it as
// stream.Options.Extract.
func Extract(doc *canon.Document, rep *receipt.Report, kept []byte) []byte {
	// Extract appends nothing for a document without a position in a stream, so such a document
	// cannot affect other rows.
	root := doc.Root()
	link, placed := chain.LinkOf(doc)
	if !placed || string(root.Member("schema").Text()) != receipt.SchemaMarker {
		return kept
	}

	k := keeper{kept: kept}
	k.place(root, link)
	if rep.Check(receipt.StepSchema).Status == receipt.StatusPassed {
		k.content(root)
	}
	return k.kept
}

// A keeper writes strings and numbers in the order in which [tell] reads them. A string is preceded
// by its length, which is 0 if the string is absent. A number is encoded as a byte that states
// whether it is present, followed by eight bytes.
type keeper struct {
	kept         []byte
	untold, over receipt.Pointers
}

func (k *keeper) place(root canon.Node, link chain.Link) {
	// The stream is written first as one string, which identifies it in joins, and then as its
	// parts.
	identifiers, stated := root.Member("identifiers"), root.Member("chain")
	issuer, workspace, tenant := root.Member("issuer").Member("id").Text(), identifiers.Member("workspace_ref").Text(), identifiers.Member("tenant_id")
	var scratch [8 * mostText]byte
	k.whole(appendStream(scratch[:0], issuer, tenant.Text(), !tenant.IsZero(), workspace))
	k.text(issuer)
	k.text(tenant.Text())
	k.text(workspace)

	// LinkOf has checked both hashes, so they are short.
	k.whole(stated.Member("receipt_hash").Text())
	k.whole(stated.Member("previous_receipt_hash").Text())
	first := uint64(0)
	if link.First {
		first = 1
	}
	k.number(first, true)
	issued, err := receipt.ParseTime(root.Member("issued_at").Text())
	k.number(uint64(issued.UnixMicro()), err == nil)
}

// content writes the statements of a receipt about its task. A value that the source did not record
// is written as absent, regardless of its placeholder.
func (k *keeper) content(root canon.Node) {
	k.untold, k.over = receipt.ReadUnreported(root), receipt.ReadAtMost(root)
	identifiers, trust := root.Member("identifiers"), root.Member("trust")
	k.told("/identifiers/task_id", identifiers.Member("task_id"))
	k.told("/identifiers/session_id", identifiers.Member("session_id"))
	k.told("/lifecycle/final_state", root.Member("lifecycle").Member("final_state"))
	k.told("/trust/start_tier", trust.Member("start_tier"))
	k.told("/trust/end_tier", trust.Member("end_tier"))

	model, cost := root.Member("model_route").Member("chosen_model"), root.Member("cost")
	k.told("/model_route/chosen_model/provider", model.Member("provider"))
	k.told("/model_route/chosen_model/model", model.Member("model"))
	k.told("/cost/currency", cost.Member("currency"))

	consumed := root.Member("autonomy_budget").Member("consumed")
	k.amount("/cost/total", cost.Member("total"))
	k.amount("/autonomy_budget/consumed/input_tokens", consumed.Member("input_tokens"))
	k.amount("/autonomy_budget/consumed/output_tokens", consumed.Member("output_tokens"))
	k.number(uint64(len(k.untold)), true)
}

// told writes a string if the source recorded it.
func (k *keeper) told(pointer string, n canon.Node) {
	if k.untold.Has(pointer) {
		k.whole(nil)
		return
	}
	k.text(n.Text())
}

// amount writes a number, its lower bound, and its upper bound. At most one of the three is
// present.
func (k *keeper) amount(pointer string, n canon.Node) {
	// A partly recorded number is a lower bound, and a number with possible duplicates is an upper
	// bound. If both apply, the number is not a bound.
	untold, over := k.untold.Has(pointer), k.over.Has(pointer)
	there, bits := !n.IsZero(), math.Float64bits(n.Float()+0) // adding 0 converts a negative zero
	k.number(bits, there && !untold && !over)
	k.number(bits, there && untold && !over && n.Float() > 0)
	k.number(bits, there && over && !untold)
}

// text writes a string of the document. All strings of a document are valid UTF-8.
func (k *keeper) text(text []byte) {
	if len(text) > mostText {
		text = appendCut(nil, text)
	}
	k.whole(text)
}

// whole writes a string that needs no truncation.
func (k *keeper) whole(text []byte) {
	k.kept = append(binary.AppendUvarint(k.kept, uint64(len(text))), text...)
}

func (k *keeper) number(bits uint64, there bool) {
	if !there {
		k.kept = append(k.kept, 0)
		return
	}
	k.kept = binary.BigEndian.AppendUint64(append(k.kept, 1), bits)
}

// tell fills a row from the data that Extract wrote. If there is no data, the row does not change.
func tell(r *Row, kept []byte) {
	u := &unpacker{rest: string(kept)}
	r.Stream, r.Issuer, r.Tenant, r.Workspace, r.Stated, r.Previous = u.text(), u.text(), u.text(), u.text(), u.text(), u.text()
	if first, there := u.number(); there {
		is := first == 1
		r.First = &is
	}
	if issued, there := u.number(); there {
		at := Instant(issued)
		r.IssuedAt = &at
	}

	r.Task, r.Session, r.State, r.StartTier, r.EndTier = u.text(), u.text(), u.text(), u.text(), u.text()
	r.Provider, r.Model, r.Currency = u.text(), u.text(), u.text()
	r.Cost, r.CostLeast, r.CostMost = u.amount(), u.amount(), u.amount()
	r.InputTokens, r.InputTokensLeast, r.InputTokensMost = u.count(), u.count(), u.count()
	r.OutputTokens, r.OutputTokensLeast, r.OutputTokensMost = u.count(), u.count(), u.count()
	if n, there := u.number(); there {
		listed := int64(n)
		r.Unreported = &listed
	}
}

// An unpacker reads the data that a keeper wrote. Values after the end of the data are absent.
type unpacker struct{ rest string }

func (u *unpacker) text() string {
	// encoding/binary can read a uvarint only from a byte slice, but rest is a string so that its
	// parts need not be copied.
	n, width := uint64(0), 0
	for shift := 0; width < len(u.rest); shift += 7 {
		c := u.rest[width]
		width++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			break
		}
	}
	text := u.rest[width:][:n]
	u.rest = u.rest[width+len(text):]
	return text
}

func (u *unpacker) number() (bits uint64, there bool) {
	if u.rest == "" {
		return 0, false
	}
	there, u.rest = u.rest[0] == 1, u.rest[1:]
	if there {
		bits = binary.BigEndian.Uint64([]byte(u.rest[:8]))
		u.rest = u.rest[8:]
	}
	return bits, there
}

func (u *unpacker) amount() *float64 {
	bits, there := u.number()
	if !there {
		return nil
	}
	f := math.Float64frombits(bits)
	return &f
}

func (u *unpacker) count() *int64 {
	f := u.amount()
	if f == nil {
		return nil
	}
	n := int64(*f)
	return &n
}
