package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/protocol"
	"github.com/receiptkit/receiptkit/receipt/stream"
)

// sourceName is the name of the body in reports.
const sourceName = "body"

// A bodyForm specifies how a body encodes receipts.
type bodyForm struct {
	kind   stream.Kind
	stream bool // the body may have any number of receipts, each of which gets a report in the response
}

func forms() map[string]bodyForm {
	return map[string]bodyForm{
		mediaJSON:     {kind: stream.JSON},
		mediaReceipt:  {kind: stream.JSON},
		mediaCBOR:     {kind: stream.CBOR},
		mediaArchive:  {kind: stream.CBOR},
		mediaNDJSON:   {kind: stream.Lines, stream: true},
		mediaJSONL:    {kind: stream.Lines, stream: true},
		mediaSequence: {kind: stream.Sequence, stream: true},
	}
}

func verifyMedia() []string {
	return []string{mediaJSON, mediaReceipt, mediaCBOR, mediaArchive, mediaNDJSON, mediaJSONL, mediaSequence}
}

// verifyParams returns the query parameters of POST /v1/verify. The last three parameters apply
// only to streams.
func verifyParams() []string {
	return []string{"at_time", "issuer", "scope", "expect_head", "expect_count", "partial"}
}

// verify serves POST /v1/verify. The body is one receipt or a stream of receipts, and the response
// has one report for each receipt.
func verify(c *call) error {
	media, err := protocol.ContentType(c.r.Request, verifyMedia()...)
	if err != nil {
		return err
	}

	f := forms()[media]
	question, err := questionOf(c.r.Query)
	if err != nil {
		return err
	}

	options, err := continuityOf(c.r.Query, f.stream)
	if err != nil {
		return err
	}

	v, err := c.s.verifier(c.s.options.Verifier)
	if err != nil {
		return err
	}
	if c.r.Query["scope"] == receipt.ScopeFull.String() && !v.full() {
		return protocol.Invalid("scope", "%v", errNoKeys)
	}

	judge, err := judgeFor(v, question, c.s.options.Now())
	if err != nil {
		return refusedQuestion(err)
	}

	// A single receipt is read into memory first; the receipts of a stream are verified as they
	// arrive.
	if f.stream {
		return verifyStream(c, v, judge, f.kind, options)
	}

	return verifyDocument(c, judge, f.kind)
}

// questionOf reads the part of the query that applies to every receipt.
func questionOf(q protocol.Query) (question, error) {
	at, err := q.Time("at_time")
	if err != nil {
		return question{}, err
	}
	scope, err := q.Choice("scope", receipt.ScopeFull.String(), receipt.ScopeIntegrity.String())
	if err != nil {
		return question{}, err
	}
	return question{At: at, Issuer: q["issuer"], Integrity: scope == receipt.ScopeIntegrity.String()}, nil
}

func refusedQuestion(err error) error {
	switch {
	case errors.Is(err, errNoKeys), errors.Is(err, errOtherIssuer), errors.Is(err, errNoIssuer):
		return protocol.Invalid("issuer", "%v", err)
	}
	return protocol.Internal(err, "the policy of this server cannot be used")
}

// continuityOf reads the part of the query that specifies how a stream must end.
func continuityOf(q protocol.Query, streamed bool) (o stream.Options, err error) {
	for _, name := range []string{"expect_head", "expect_count", "partial"} {
		if _, given := q[name]; given && !streamed {
			return o, protocol.Invalid(name, "%s is about a stream: send %s", name, mediaNDJSON)
		}
	}

	// Without such a requirement, a truncated chain appears complete.
	if o.Continuity.Head, err = q.Digest("expect_head"); err != nil {
		return o, err
	}

	if _, given := q["expect_count"]; given {
		n, err := q.Number("expect_count", 1, math.MaxInt64, 0)
		if err != nil {
			return o, err
		}
		o.Continuity.Count = &n
	}

	partial, err := q.Choice("partial", "true", "false")
	o.Partial = partial == "true"
	return o, err
}

// verifyDocument responds with the report on a single receipt. The body is evidence, so a malformed
// body is refuted, not rejected.
func verifyDocument(c *call, judge *judge, kind stream.Kind) error {
	if _, err := protocol.ContentEncoding(c.r.Request); err != nil {
		return err
	}
	data, err := c.r.ReadBody(c.s.limits.document(kind == stream.CBOR), "; a stream (application/x-ndjson) has no limit but for its lines")
	if err != nil {
		return err
	}

	// The response is encoded while the report is valid, but sent only after the turn has ended.
	var text []byte
	err = judgeOne(c, judge, data, kind, sourceName, nil, func(rep *receipt.Report) (err error) {
		hint(rep, data, kind)
		text, err = receipt.AppendJSON(nil, rep)
		return err
	})

	if err != nil {
		return err
	}
	return c.write(http.StatusOK, mediaJSON, append(text, '\n'))
}

// judgeOne waits for a turn, verifies a receipt, and passes the report to give. link is the result
// for the receipt's link to other receipts, or nil if there are no other receipts.
func judgeOne(c *call, judge *judge, data []byte, kind stream.Kind, source string, link *receipt.Check, give func(*receipt.Report) error) error {
	done, err := c.turn(c.r.Context(), data, kind)
	if err != nil {
		return protocol.ClientClosed(err)
	}
	defer done()

	rep, err := reportOf(c.r.Context(), c.s, judge, data, kind, source)
	if err != nil {
		return err
	}

	// The link to other receipts can refute a receipt that is otherwise intact.
	if link != nil {
		check := *link // a copy, because a source may return the same check for several requests
		check.Step = receipt.StepLink
		judge.Amend(rep, check)
	}
	c.s.meters.judged(rep.Scope)(rep.Verdict)
	return give(rep)
}

// bodyOf returns the body as a source for package stream.
func bodyOf(name string, kind stream.Kind, r io.Reader) stream.Source {
	s := stream.From(name, r)
	s.Kind = kind
	return s
}

// reportOf verifies a receipt in the same way as package stream verifies the only document of an
// input: it removes an API envelope and opens an attestation. Any other body, including a body with
// several documents, is verified as is, and refuted.
func reportOf(ctx context.Context, s *Server, judge *judge, data []byte, kind stream.Kind, source string) (*receipt.Report, error) {
	if begins(data, kind) {
		var only *receipt.Report
		count := 0

		run := stream.VerifyFiles(ctx, judge.Verifier, []stream.Source{bodyOf(source, kind, bytes.NewReader(data))}, stream.Options{Jobs: 1, Unwrap: judge.unwrap})
		for rep := range run.Reports() {
			if count++; count > 1 {
				break
			}
			only = rep.Clone()
		}

		if _, err := run.Summary(); count == 1 && err == nil {
			return only, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, protocol.ClientClosed(err)
		}
	}

	// The body is not a single document, so it is verified as is, and refuted.
	rep := &receipt.Report{Source: source}
	if kind == stream.CBOR && len(data) > 0 {
		refuteItem(s, judge.Verifier, data, rep)
		return rep, nil
	}

	judge.VerifyBytes(data, new(canon.Document), rep)
	return rep, nil
}

// begins reports whether a body begins like a single document. Package stream would split or
// decompress any other body.
func begins(data []byte, kind stream.Kind) bool {
	if kind == stream.CBOR {
		return len(data) > 0 && data[0] >= 0x80 && data[0] < 0xe0 // a CBOR map, array, or tag
	}
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}

// refuteItem refutes a body that is not a valid CBOR item.
func refuteItem(s *Server, v *receipt.Verifier, data []byte, rep *receipt.Report) {
	check := receipt.Check{Status: receipt.StatusFailed, Code: receipt.CodeSyntax, Detail: "expected one CBOR item that is a map"}
	var bad *archive.ItemError
	if _, err := s.codec.ToJSON(data); errors.As(err, &bad) {
		check.Code, check.Detail, check.Hint = receipt.Code(bad.Code), bad.Detail, bad.Hint
	}
	v.Amend(rep, check)
	rep.InputSHA256 = canon.Sum(data)
}
