package rows

import (
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// What a row is about.
const (
	kindReceipt = "receipt" // a document of the input: a receipt, or what is there in the place of one
	kindFinding = "finding" // what refutes the input as a whole
	kindNote    = "note"    // what leaves it undecided, such as evidence that shows nothing
	kindInput   = "input"   // an input that was not read to its end
)

// Words in the column verdict that are no [receipt.Verdict].
const (
	intact  = "intact"   // verified without signatures
	notRead = "not read" // of an input
)

// A Row is one line of the table. The tags name the columns, and how Parquet stores them;
// "" and nil are NULL.
type Row struct {
	Source      string `parquet:"source,optional,dict"` // the input, as the caller named it
	Index       int64  `parquet:"index,optional"`       // line or item of the source, from 1
	Verdict     string `parquet:"verdict,optional,dict"`
	Code        string `parquet:"code,optional,dict"`    // why it is not verified
	Pointer     string `parquet:"pointer,optional,dict"` // where, as a JSON Pointer
	ReceiptID   string `parquet:"receipt_id,optional"`
	ReceiptHash string `parquet:"receipt_hash,optional"` // of the content, computed
	Detail      string `parquet:"detail,optional,dict"`

	Kind    string `parquet:"kind,optional,dict"`
	Address string `parquet:"address,optional"` // source, and the line or item where there are several

	// The place among others: of documents that state one, sound or not.
	Stream    string   `parquet:"stream,optional,dict"` // JSON: [issuer, tenant or null, workspace]
	Issuer    string   `parquet:"issuer,optional,dict"`
	Tenant    string   `parquet:"tenant,optional,dict"`
	Workspace string   `parquet:"workspace,optional,dict"`
	Stated    string   `parquet:"stated_hash,optional"` // that the receipt states of itself
	Previous  string   `parquet:"previous,optional"`    // the hash that it names as its predecessor's
	First     *bool    `parquet:"first,optional"`       // whether it states that it has none
	IssuedAt  *Instant `parquet:"issued_at,optional,timestamp(microsecond)"`

	// The content, of documents that fit the schema.
	Task      string `parquet:"task,optional"`
	Session   string `parquet:"session,optional"`
	State     string `parquet:"state,optional,dict"`
	StartTier string `parquet:"start_tier,optional,dict"`
	EndTier   string `parquet:"end_tier,optional,dict"`
	Provider  string `parquet:"provider,optional,dict"` // of the chosen model
	Model     string `parquet:"model,optional,dict"`

	Currency          string   `parquet:"currency,optional,dict"`
	Cost              *float64 `parquet:"cost,optional"`
	CostLeast         *float64 `parquet:"cost_least,optional"`
	CostMost          *float64 `parquet:"cost_most,optional"`
	InputTokens       *int64   `parquet:"input_tokens,optional"`
	InputTokensLeast  *int64   `parquet:"input_tokens_least,optional"`
	InputTokensMost   *int64   `parquet:"input_tokens_most,optional"`
	OutputTokens      *int64   `parquet:"output_tokens,optional"`
	OutputTokensLeast *int64   `parquet:"output_tokens_least,optional"`
	OutputTokensMost  *int64   `parquet:"output_tokens_most,optional"`

	Unreported *int64 `parquet:"unreported,optional"` // how many members are listed as not told by the source
}

// An Instant is a time in microseconds since 1970, UTC.
type Instant int64

// String writes it as RFC 3339 has it.
func (i Instant) String() string { return time.UnixMicro(int64(i)).UTC().Format(time.RFC3339Nano) }

// Of returns the row of a receipt, by its report and what [Glean] kept in it. It
// stays what it is when the report is used again.
func Of(rep *receipt.Report) Row {
	why := rep.Finding()
	r := Row{
		Kind: kindReceipt, Source: cut(rep.Source), Index: int64(rep.Index), Verdict: word(rep), Address: cut(rep.Address()),
		Code: string(why.Code), Pointer: cut(why.Pointer), Detail: words(why.Detail), ReceiptID: cut(rep.ReceiptID.String()),
	}
	if !rep.ReceiptHash.IsZero() {
		r.ReceiptHash = rep.ReceiptHash.String()
	}
	tell(&r, rep.Gleaned)
	return r
}

func word(rep *receipt.Report) string {
	if rep.Verdict == receipt.Verified && rep.Scope == receipt.ScopeIntegrity {
		return intact // anyone can write a receipt that fits its own hash
	}
	return rep.Verdict.String()
}

// About returns the rows of what a summary tells of the inputs, and of no receipt: what
// refutes them as a whole, what leaves them undecided, and what was not read.
func About(s *stream.Summary) (list []Row) {
	for _, f := range s.Findings {
		r := Row{Kind: kindFinding, Source: cut(f.Source), Verdict: receipt.Refuted.String(), Code: string(f.Code), Detail: words(f.Detail)}
		if f.Stream != nil {
			r.name(*f.Stream)
		}
		list = append(list, r)
	}
	for _, n := range s.NotChecked {
		if n.Undecides() {
			list = append(list, Row{Kind: kindNote, Verdict: receipt.Undecided.String(), Code: string(n.Code), Detail: words(n.Detail)})
		}
	}
	for _, n := range s.Inputs.Unreadable {
		list = append(list, Row{Kind: kindInput, Source: cut(n.Source), Verdict: notRead, Detail: words(n.Detail)})
	}

	// A run may stop where it wants to.
	if !s.Complete && len(s.Inputs.Unreadable) == 0 {
		list = append(list, Row{Kind: kindInput, Verdict: notRead, Detail: "the inputs were not read to their end"})
	}
	return list
}

// name tells of which stream a row is.
func (r *Row) name(s chain.Stream) {
	r.Stream = string(appendStream(nil, []byte(s.Issuer), []byte(s.Tenant), s.HasTenant, []byte(s.Workspace)))
	r.Issuer, r.Tenant, r.Workspace = cut(s.Issuer), cut(s.Tenant), cut(s.Workspace)
}

// AppendCells appends the values of a row as text, in the order of [Columns]: "" where a
// column is NULL.
func (r *Row) AppendCells(list []string) []string {
	t := texts(list)
	r.Each(&t)
	return t
}

// Each passes the values of the row to a receiver, in the order of [Columns].
func (r *Row) Each(to Cells) {
	to.Text(r.Source)
	to.Count(r.Index, r.Index > 0)
	to.Text(r.Verdict)
	to.Text(r.Code)
	to.Text(r.Pointer)
	to.Text(r.ReceiptID)
	to.Text(r.ReceiptHash)
	to.Text(r.Detail)

	to.Text(r.Kind)
	to.Text(r.Address)

	to.Text(r.Stream)
	to.Text(r.Issuer)
	to.Text(r.Tenant)
	to.Text(r.Workspace)
	to.Text(r.Stated)
	to.Text(r.Previous)
	to.Flag(r.First)
	to.Time(r.IssuedAt)

	to.Text(r.Task)
	to.Text(r.Session)
	to.Text(r.State)
	to.Text(r.StartTier)
	to.Text(r.EndTier)
	to.Text(r.Provider)
	to.Text(r.Model)

	to.Text(r.Currency)
	to.Amount(r.Cost)
	to.Amount(r.CostLeast)
	to.Amount(r.CostMost)
	to.Count(deref(r.InputTokens))
	to.Count(deref(r.InputTokensLeast))
	to.Count(deref(r.InputTokensMost))
	to.Count(deref(r.OutputTokens))
	to.Count(deref(r.OutputTokensLeast))
	to.Count(deref(r.OutputTokensMost))

	to.Count(deref(r.Unreported))
}
