package replay

import (
	"cmp"
	"errors"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// An expected value is a draft that package record created from events.
type expected struct {
	draft  *receipt.Draft
	doc    *canon.Document
	silent []string // JSON Pointers of members that are absent from the events but present in the given receipts
}

// expect creates a receipt draft from events. If no event contains a required member, the member is
// copied from the first receipt that contains it.
func expect(tell func(add func([]byte) error) error, others ...*receipt.Draft) (*expected, error) {
	// If the events lack members, the recorder runs a second time, with options that supply these
	// members.
	x := &expected{}
	o := record.Options{Issuer: receipt.Issuer{ID: "replay"}}
	for {
		rec, err := record.New(o)
		if err != nil {
			return nil, err
		}
		if err := tell(rec.Add); err != nil {
			return nil, err
		}
		x.draft, err = rec.Draft()
		var missing *record.MissingError
		if errors.As(err, &missing) && x.silent == nil {
			x.fill(&o, missing.Names, others)
			continue
		}
		if err != nil {
			return nil, err
		}
		return x, x.parse()
	}
}

// parse parses the draft.
func (x *expected) parse() error {
	text, err := record.JSON(x.draft)
	if err != nil {
		return err
	}
	x.doc, err = canon.Parse(text)
	return err
}

// fill sets the options that supply members that the events do not contain.
func (x *expected) fill(o *record.Options, names []string, others []*receipt.Draft) {
	first := func(of func(*receipt.Draft) string) string {
		for _, d := range others {
			if text := of(d); text != "" && !placeholder(text) {
				return text
			}
		}
		return "unknown"
	}

	for _, name := range names {
		switch name {
		case "WorkspaceRef":
			o.WorkspaceRef = first(func(d *receipt.Draft) string { return d.Identifiers.WorkspaceRef })
			x.silent = append(x.silent, "/identifiers/workspace_ref")
		case "SessionID":
			o.SessionID = first(func(d *receipt.Draft) string { return d.Identifiers.SessionID })
			x.silent = append(x.silent, "/identifiers/session_id")
		case "Tier":
			o.Tier = first(func(d *receipt.Draft) string { return d.Trust.StartTier })
			x.silent = append(x.silent, "/trust/start_tier", "/trust/end_tier")
		}
	}
}

// adopt copies optional members from the source's receipt if the events do not contain them. A
// replay has the same values.
func (x *expected) adopt(source *receipt.Draft) error {
	for _, m := range [][2]*string{
		{&x.draft.Identifiers.TenantID, &source.Identifiers.TenantID}, {&x.draft.Identifiers.PersonaRef, &source.Identifiers.PersonaRef},
		{&x.draft.Trust.PolicyRef, &source.Trust.PolicyRef},
	} {
		if *m[0] = cmp.Or(*m[0], *m[1]); placeholder(*m[0]) {
			*m[0] = ""
		}
	}
	return x.parse()
}
