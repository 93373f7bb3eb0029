package rows

import (
	"time"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// Kinds of rows.
const (
	kindReceipt = "receipt" // a document in the input: a receipt, or a document in place of a receipt
	kindFinding = "finding" // a finding that refutes the entire input
	kindNote    = "note"    // a note that leaves the input undecided, such as unusable evidence
	kindInput   = "input"   // an input that was not read completely
)

// Values of the column verdict that are not a [receipt.Verdict].
const (
	intact  = "intact"   // verified without signatures
	notRead = "not read" // for an input
)

// A Row is one row of the table. The field tags specify the names of the columns and the encoding
// in Parquet. An empty string or a nil pointer represents NULL.
type Row struct {
	Source      string `parquet:"source,optional,dict"` // the input, as named by the caller
	Index       int64  `parquet:"index,optional"`       // line or item of the source, from 1
	Verdict     string `parquet:"verdict,optional,dict"`
	Code        string `parquet:"code,optional,dict"`    // why the receipt is not verified
	Pointer     string `parquet:"pointer,optional,dict"` // location, as a JSON Pointer
	ReceiptID   string `parquet:"receipt_id,optional"`
	ReceiptHash string `parquet:"receipt_hash,optional"` // computed from the content
	Detail      string `parquet:"detail,optional,dict"`

	Kind    string `parquet:"kind,optional,dict"`
	Address string `parquet:"address,optional"` // source, and the line or item if there are several

	// The position among other receipts, for all documents that state it.
	Stream    string   `parquet:"stream,optional,dict"` // JSON: [issuer, tenant or null, workspace]
	Issuer    string   `parquet:"issuer,optional,dict"`
	Tenant    string   `parquet:"tenant,optional,dict"`
	Workspace string   `parquet:"workspace,optional,dict"`
	Stated    string   `parquet:"stated_hash,optional"` // the hash that the receipt states
	Previous  string   `parquet:"previous,optional"`    // the stated hash of its predecessor
	First     *bool    `parquet:"first,optional"`       // whether it states that it has no predecessor
	IssuedAt  *Instant `parquet:"issued_at,optional,timestamp(microsecond)"`

	// The content, for documents that match the schema.
	Task      string `parquet:"task,optional"`
	Session   string `parquet:"session,optional"`
	State     string `parquet:"state,optional,dict"`
	StartTier string `parquet:"start_tier,optional,dict"`
	EndTier   string `parquet:"end_tier,optional,dict"`
	Provider  string `parquet:"provider,optional,dict"` // provider of the chosen model
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

	Unreported *int64 `parquet:"unreported,optional"` // number of members listed as not recorded by the source
}

// An Instant is a time in microseconds since January 1, 1970 UTC.
type Instant int64

// String returns the time in RFC 3339 format.
func (i Instant) String() string { return time.UnixMicro(int64(i)).UTC().Format(time.RFC3339Nano) }

// Of returns the row for a receipt, built from the report and the data that [Extract] stored in it.
// The row remains valid when the report is reused.
func Of(rep *receipt.Report) Row {
	// Strings are copied unless they are immutable, because the report will be reused.
	why := rep.Finding()
	r := Row{
		Kind: kindReceipt, Source: cut(rep.Source), Index: int64(rep.Index), Verdict: word(rep), Address: cut(rep.Address()),
		Code: string(why.Code), Pointer: cut(why.Pointer), Detail: words(why.Detail), ReceiptID: cut(rep.ReceiptID.String()),
	}
	if !rep.ReceiptHash.IsZero() {
		r.ReceiptHash = rep.ReceiptHash.String()
	}
	tell(&r, rep.Extracted)
	return r
}

func word(rep *receipt.Report) string {
	if rep.Verdict == receipt.Verified && rep.Scope == receipt.ScopeIntegrity {
		return intact // anyone can write a receipt that matches its stated hash
	}
	return rep.Verdict.String()
}

// About returns the rows that concern the inputs of a summary instead of a single receipt: findings
// that refute inputs, notes that leave inputs undecided, and inputs that were not read completely.
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

	// A run may stop before the end of its inputs.
	if !s.Complete && len(s.Inputs.Unreadable) == 0 {
		list = append(list, Row{Kind: kindInput, Verdict: notRead, Detail: "the inputs were not read to their end"})
	}
	return list
}

// name sets the stream of a row.
func (r *Row) name(s chain.Stream) {
	r.Stream = string(appendStream(nil, []byte(s.Issuer), []byte(s.Tenant), s.HasTenant, []byte(s.Workspace)))
	r.Issuer, r.Tenant, r.Workspace = cut(s.Issuer), cut(s.Tenant), cut(s.Workspace)
}

// AppendCells appends the values of a row as text, in the order of [Columns]. NULL is "".
func (r *Row) AppendCells(list []string) []string {
	t := texts(list)
	r.Each(&t)
	return t
}

// Each passes the values of the row to a Cells, in the order of [Columns].
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
