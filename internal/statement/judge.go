package statement

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Observed contains the facts about a stream that do not depend on its statements.
type Observed struct {
	Count   uint64       // number of receipts in the input
	Head    canon.Digest // hash of the last receipt
	First   bool         // the input begins with the first receipt of the stream, or contains none of its receipts
	Partial bool         // the input is a selection, so receipts may be missing

	// Numbers maps each statement's head that is among the receipts to its position, starting at 1,
	// or to 0 if the position is unknown. If Numbers is nil, only the last receipt is known.
	Numbers map[canon.Digest]uint64

	// Checkpoints contains the stream's checkpoints that a trusted witness cosigned.
	Checkpoints []Checkpoint
}

// A Checkpoint is the size of a stream that a trusted witness observed at a given time.
type Checkpoint struct {
	Size uint64
	At   time.Time
}

// Requirements specifies what the statements of a stream must show.
type Requirements struct {
	Closed    bool          // the last statement must be final
	Heartbeat time.Duration // maximum time between statements, in addition to the limits that statements set; 0: none
	Tolerance time.Duration // tolerated difference between clocks
	Now       time.Time     // the time of the verification

	Dated   bool                       // each statement must have a proven time
	Existed map[canon.Digest]time.Time // maps each statement to a time before which it existed
}

// A Finding describes a contradiction or missing evidence.
type Finding struct {
	Code   receipt.Code
	Refute bool // the finding is a contradiction; otherwise, evidence is missing
	Detail string
}

// A Result describes what the statements of a stream show about the stream.
type Result struct {
	Findings []Finding
	Last     *Signed       // the last statement with a valid signature by a trusted key of the issuer; nil if there is none
	Silence  time.Duration // the longest time between two statements, or since the last statement
	Bounded  string        // why the stream does not meet the conditions of AEL level 1; empty if it does
	Tail     uint64        // number of receipts after the last statement
}

// Verdict returns the verdict that follows from the findings. Refuted takes precedence over
// undecided.
func (r *Result) Verdict() receipt.Verdict {
	switch {
	case slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Refute }):
		return receipt.Refuted
	case len(r.Findings) > 0 || r.Last == nil:
		return receipt.Undecided
	}
	return receipt.Verified
}

// A judge collects the findings about one stream.
type judge struct {
	trust  receipt.Trust
	seen   Observed
	req    Requirements
	result Result
}

func (j *judge) find(refute bool, code receipt.Code, format string, args ...any) {
	j.result.Findings = append(j.result.Findings, Finding{code, refute, fmt.Sprintf(format, args...)})
}

// Judge evaluates the statements of one stream, which may be in any order. Copies count once. Only
// a statement with a valid signature by a trusted key of the issuer can contradict anything. An
// invalid signature refutes the stream, and a statement by an unknown key leaves it undecided.
func Judge(trust receipt.Trust, statements []*Signed, seen Observed, req Requirements) *Result {
	j := &judge{trust: trust, seen: seen, req: req}
	list := j.authentic(statements)
	j.sequence(list)
	for _, s := range list {
		j.receipts(s)
		j.times(s)
	}
	j.intervals(list)
	if len(list) > 0 {
		j.result.Last = list[len(list)-1]
		j.end(j.result.Last)
	} else if req.Closed {
		j.find(false, receipt.CodeStreamOpen, "no statement ends the stream")
	}
	j.result.Bounded = j.bounded(list)
	return &j.result
}

// bounded explains why a stream does not meet the conditions of AEL 0.1 for level 1 (checks e to
// j). It returns "" if the stream meets them. The input must contain all receipts of the stream. No
// statement may be contradicted, and no evidence may be missing. The last statement must be final,
// and there must be a heartbeat between it and the first statement. Each statement except the last
// must limit the time until the next, unless the requirements limit that time.
func (j *judge) bounded(list []*Signed) string {
	open := func(s *Signed) bool { return !s.Final && s.Within == 0 && j.req.Heartbeat == 0 }
	switch {
	case len(j.result.Findings) > 0:
		return "statements are contradicted, or evidence is missing"
	case j.seen.Partial || !j.seen.First:
		return "the receipts are a part of the stream"
	case len(list) == 0 || !list[len(list)-1].Final:
		return "no statement ends the stream"
	case len(list) < 3:
		return "there is no heartbeat between the first statement and the end"
	case slices.ContainsFunc(list, open):
		return "a statement does not bound the time until the next"
	}
	return ""
}

// authentic returns the statements with a valid signature by a trusted key of the issuer, ordered
// by time and count.
func (j *judge) authentic(statements []*Signed) (list []*Signed) {
	known := map[canon.Digest]bool{}
	var others []func()
	for _, s := range statements {
		code, detail := j.signer(s)
		if code == "" {
			if !known[s.Digest] {
				known[s.Digest] = true
				list = append(list, s)
			}
			continue
		}

		// If one copy of a statement has a valid signature, a copy by an unknown key is ignored,
		// regardless of their order. A copy with an invalid signature always refutes the stream.
		refutes := code == receipt.CodeSignatureInvalid || code == receipt.CodeMalformedSignature
		others = append(others, func() {
			if refutes || !known[s.Digest] {
				j.find(refutes, code, "the statement of %v: %s", s.At.Format(time.RFC3339), detail)
			}
		})
	}
	for _, find := range others {
		find()
	}
	slices.SortStableFunc(list, func(a, b *Signed) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Count, b.Count))
	})
	return inOrder(list)
}

// inOrder sorts statements with the same time and count by their links.
func inOrder(list []*Signed) []*Signed {
	for i := range list {
		for k := i + 1; k < len(list) && list[k].At.Equal(list[i].At) && list[k].Count == list[i].Count; k++ {
			if list[i].Previous == list[k].Digest {
				list[i], list[k] = list[k], list[i]
				k = i
			}
		}
	}
	return list
}

// signer explains why the signature of a statement is not accepted. It returns "" if the signature
// is accepted.
func (j *judge) signer(s *Signed) (code receipt.Code, detail string) {
	code, detail = receipt.CodeUnknownKey, "no trusted key of the issuer signed it"
	for _, sig := range s.signatures {
		e := &receipt.Entry{KeyID: []byte(sig.KeyID), Signature: []byte("base64:" + sig.Sig)}
		key, err := j.trust.CheckSignature(message(s.payload), e)
		switch {
		case err != nil && (err.Code == receipt.CodeSignatureInvalid || err.Code == receipt.CodeMalformedSignature):
			return err.Code, err.Detail
		case err == nil && speaks(key, s.Stream.Issuer, s.At):
			code, detail = "", ""
		}
	}
	return code, detail
}

// speaks reports whether a key may speak for an issuer at a given time. A key that was revoked as
// superseded may speak only before the revocation. Any other revoked key may not speak.
func speaks(k *receipt.Key, issuer string, at time.Time) bool {
	switch {
	case !k.Has(receipt.RoleIssuer) || !slices.Contains(k.Issuers, issuer):
		return false
	case at.Before(k.NotBefore) || !k.NotAfter.IsZero() && !at.Before(k.NotAfter):
		return false
	}
	return k.Revoked == nil || k.Revoked.Reason == receipt.ReasonSuperseded && at.Before(k.Revoked.At)
}

// sequence checks the links between statements.
func (j *judge) sequence(list []*Signed) {
	byDigest, next := map[canon.Digest]*Signed{}, map[canon.Digest]*Signed{}
	for _, s := range list {
		byDigest[s.Digest] = s
	}
	for _, s := range list {
		if other := next[s.Previous]; other != nil {
			j.find(true, receipt.CodeStatementFork, "two statements follow the same one: of %v and %v", other.At.Format(time.RFC3339), s.At.Format(time.RFC3339))
		}
		next[s.Previous] = s

		before := byDigest[s.Previous]
		switch {
		case s.Previous.IsZero():
		case before == nil:
			j.find(false, receipt.CodeStatementMissing, "the statement before that of %v is missing", s.At.Format(time.RFC3339))
		case before.Final:
			j.find(true, receipt.CodeStatementFork, "a statement of %v follows the end of the stream", s.At.Format(time.RFC3339))
		case s.Count < before.Count || s.At.Before(before.At):
			j.find(true, receipt.CodeStatementFork, "count or time decreases from %d at %v to %d at %v",
				before.Count, before.At.Format(time.RFC3339), s.Count, s.At.Format(time.RFC3339))
		}
	}
}

// receipts compares a statement with the receipts in the input.
func (j *judge) receipts(s *Signed) {
	switch {
	case !j.seen.First:
		// The position of the last receipt is unknown.
	case s.Count > j.seen.Count && j.seen.Partial:
		j.find(false, receipt.CodeNotFromStart, "%d receipts are stated, and the selection has %d", s.Count, j.seen.Count)
	case s.Count > j.seen.Count:
		j.find(true, receipt.CodeTruncated, "%d receipts are stated, and the input has %d", s.Count, j.seen.Count)
	case s.Count == j.seen.Count && s.Head != j.seen.Head:
		j.find(true, receipt.CodeHeadMismatch, "the stated head %v is not receipt number %d, which has %v", s.Head, s.Count, j.seen.Head)
	case s.Count < j.seen.Count && !j.has(s):
		j.find(true, receipt.CodeHeadMismatch, "the stated head %v is not receipt number %d", s.Head, s.Count)
	case s.Final && s.Count < j.seen.Count:
		j.find(true, receipt.CodeAfterEnd, "the stream ended with %d receipts, and the input has %d", s.Count, j.seen.Count)
	}
	for _, c := range j.seen.Checkpoints {
		if s.Final && c.Size > s.Count {
			j.find(true, receipt.CodeAfterEnd, "the stream ended with %d receipts, and a checkpoint has %d", s.Count, c.Size)
		}
	}
}

// has reports whether the head of a statement is among the receipts. If the position of the head is
// known, it must also be the position that the statement gives.
func (j *judge) has(s *Signed) bool {
	if j.seen.Numbers == nil || s.Count == 0 {
		return true
	}
	n, found := j.seen.Numbers[s.Head]
	return found && (n == 0 || n == s.Count)
}

// times compares the time of a statement with the times of timestamp authorities and witnesses.
func (j *judge) times(s *Signed) {
	switch existed, dated := j.req.Existed[s.Digest]; {
	case dated && existed.Before(s.At.Add(-j.req.Tolerance)):
		j.find(true, receipt.CodeTimeContradicted, "the statement of %v existed before %v", s.At.Format(time.RFC3339), existed.Format(time.RFC3339))
	case j.req.Dated && (!dated || existed.After(s.At.Add(j.req.Tolerance))):
		j.find(false, receipt.CodeTimeSelfAsserted, "no timestamp shows that the statement of %v existed at that time", s.At.Format(time.RFC3339))
	}
	for _, c := range j.seen.Checkpoints {
		if c.Size > s.Count && !c.At.After(s.At.Add(-j.req.Tolerance)) {
			j.find(true, receipt.CodeTimeContradicted, "%d receipts are stated at %v, and a witness saw %d at %v",
				s.Count, s.At.Format(time.RFC3339), c.Size, c.At.UTC().Format(time.RFC3339))
		}
	}
	if s.At.After(j.req.Now.Add(j.req.Tolerance)) {
		j.find(true, receipt.CodeTimeContradicted, "the statement is of %v, which is in the future", s.At.Format(time.RFC3339))
	}
}

// A beat is a time at which the stream was known to be active.
type beat struct {
	at     time.Time
	stated bool          // by a statement, and not by a checkpoint
	within time.Duration // maximum time until the next statement; 0: not stated
	final  bool
}

// intervals finds periods in which no statement was made. A crash and a deletion look the same, so
// silence is missing evidence and not a contradiction. A checkpoint counts as a statement with the
// limit of the statement before it, because otherwise a checkpoint would end that limit. After the
// end of the stream, no statement is expected.
func (j *judge) intervals(list []*Signed) {
	var beats []beat
	for _, s := range list {
		beats = append(beats, beat{s.At, true, s.Within, s.Final})
	}
	if len(list) == 0 {
		if j.req.Heartbeat > 0 {
			j.find(false, receipt.CodeSilence, "the stream has no statement")
		}
		return
	}
	for _, c := range j.seen.Checkpoints {
		beats = append(beats, beat{at: c.At})
	}
	slices.SortStableFunc(beats, func(a, b beat) int { return a.at.Compare(b.at) })

	within := time.Duration(0)
	for i, b := range beats {
		if b.final {
			break
		}
		if b.stated {
			within = b.within
		}
		until := j.req.Now
		if i+1 < len(beats) {
			until = beats[i+1].at
		}
		silent := until.Sub(b.at)
		j.result.Silence = max(j.result.Silence, silent)
		for _, most := range []time.Duration{within, j.req.Heartbeat} {
			if most > 0 && silent > most+j.req.Tolerance {
				j.find(false, receipt.CodeSilence, "no statement from %v to %v, for %v; expected one within %v",
					b.at.UTC().Format(time.RFC3339), until.UTC().Format(time.RFC3339), silent, most)
				break
			}
		}
	}
}

// end checks the last statement.
func (j *judge) end(last *Signed) {
	if !last.Final && j.req.Closed {
		j.find(false, receipt.CodeStreamOpen, "the last statement, of %v, does not end the stream", last.At.Format(time.RFC3339))
	}
	if !j.seen.First {
		j.find(false, receipt.CodeNotFromStart, "the input does not begin with the first receipt of the stream")
		return
	}
	if j.seen.Count > last.Count {
		j.result.Tail = j.seen.Count - last.Count
	}
}

// ByStream groups statements by stream.
func ByStream(list []*Signed) map[chain.Stream][]*Signed {
	groups := map[chain.Stream][]*Signed{}
	for _, s := range list {
		groups[s.Stream] = append(groups[s.Stream], s)
	}
	return groups
}

// Last returns the last statement of a stream, or nil if there is none. Only statements with a
// valid signature by a trusted key of the issuer count.
func Last(trust receipt.Trust, statements []*Signed) *Signed {
	j := &judge{trust: trust}
	if list := j.authentic(statements); len(list) > 0 {
		return list[len(list)-1]
	}
	return nil
}
