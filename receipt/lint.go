package receipt

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// lint reports content that the format allows but that an honest issuer is unlikely to write. The
// receipt must match the schema. Warnings never change a verdict. Values that the source did not
// record are placeholders, so they contradict nothing.
func lint(root canon.Node, p *Policy, rep *Report) {
	says := claims{untold: ReadUnreported(root), over: ReadAtMost(root)}
	lintTimes(root, says, rep)
	lintClock(root, p, says, rep)
	lintFailure(root.Member("lifecycle"), says, rep)
	lintCost(root.Member("cost"), says, rep)
	lintCounts(root, says, rep)
	lintReplay(root.Member("replay_input"), says, rep)
	lintIDs(root, rep)
	lintRoot(root.Member("chain"), rep)
	lintCommitments(root.Member("redactions"), rep)
}

// claims distinguishes statements in a receipt from placeholders and bounds.
type claims struct{ untold, over Pointers }

// low reports whether the actual number or list may be larger than the stated one. A sum is a lower
// bound if any of its terms is a lower bound.
func (c claims) low(pointer string) bool { return touches(c.untold, pointer) }

// high reports whether the actual number or list may be smaller than the stated one.
func (c claims) high(pointer string) bool { return touches(c.over, pointer) }

func touches(listed Pointers, pointer string) bool {
	return listed.Has(pointer) || slices.ContainsFunc(listed, func(part string) bool { return strings.HasPrefix(part, pointer+"/") })
}

// lintTimes checks that created ≤ started ≤ completed ≤ issued.
func lintTimes(root canon.Node, says claims, rep *Report) {
	lifecycle := root.Member("lifecycle")
	var latest time.Time
	name := ""
	for i, n := range [...]canon.Node{lifecycle.Member("created_at"), lifecycle.Member("started_at"), lifecycle.Member("completed_at"), root.Member("issued_at")} {
		t, err := ParseTime(n.Text())
		place := [...]string{"/lifecycle/created_at", "/lifecycle/started_at", "/lifecycle/completed_at", "/issued_at"}[i]
		// A placeholder is not compared with other times.
		if err != nil || says.untold.Has(place) { // created_at is optional
			continue
		}
		this := [...]string{"created_at", "started_at", "completed_at", "issued_at"}[i]
		if t.Before(latest) && name != "" {
			rep.warn(CodeTimeOrder, place, fmt.Sprintf("%s, %s, is before %s, %s", this, At(t), name, At(latest)))
		}
		latest, name = t, this
	}
}

func lintClock(root canon.Node, p *Policy, says claims, rep *Report) {
	issued, err := ParseTime(root.Member("issued_at").Text())
	if err != nil || says.untold.Has("/issued_at") {
		return
	}
	switch {
	case !p.At.IsZero() && issued.After(p.At):
		rep.warn(CodeIssuedLater, "/issued_at", fmt.Sprintf("issued at %s, later than the time asked for, %s", At(issued), At(p.At)))
	case !p.Now.IsZero() && issued.After(p.Now):
		rep.warn(CodeIssuedLater, "/issued_at", fmt.Sprintf("issued at %s, later than now, %s", At(issued), At(p.Now)))
	}
}

func lintFailure(lifecycle canon.Node, says claims, rep *Report) {
	if says.untold.Has("/lifecycle/final_state") || says.untold.Has("/lifecycle/failure") {
		return
	}

	// A failure must be stated if the task failed, and must not be stated otherwise.
	failed := string(lifecycle.Member("final_state").Text()) == "FAILED"
	described := lifecycle.Member("failure").Kind() == canon.KindObject
	switch {
	case failed && !described:
		rep.warn(CodeFailureState, "/lifecycle/failure", "the task is FAILED, but no failure is described")
	case described && !failed:
		rep.warn(CodeFailureState, "/lifecycle/failure", "a failure is described, but the task is not FAILED")
	}
}

func lintCost(cost canon.Node, says claims, rep *Report) {
	providers := cost.Member("provider_breakdown")
	if providers.Len() == 0 {
		return
	}

	total, sum := cost.Member("total").Float(), 0.0
	for _, p := range providers.Elements() {
		sum += p.Member("amount").Float()
	}

	// A value that is a bound can contradict the other value in only one direction.
	const all, parts = "/cost/total", "/cost/provider_breakdown"
	below := total < sum && !says.low(all) && !says.high(parts)
	above := total > sum && !says.high(all) && !says.low(parts)
	if math.Abs(total-sum) > 1e-6 && (below || above) {
		rep.warn(CodeCostSum, "/cost/total", fmt.Sprintf("the total is %s, the providers' amounts add up to %s", decimalText(total), decimalText(sum)))
	}
}

// lintCounts compares the number of listed tool calls with the number in the budget. A call may
// have been canceled before it was made. Such a call is listed, but does not have to be counted in
// the budget.
func lintCounts(root canon.Node, says claims, rep *Report) {
	consumed := root.Member("autonomy_budget").Member("consumed").Member("tool_calls")
	if consumed.IsZero() {
		return
	}

	calls := root.Member("side_effects").Member("tool_calls")
	listed, made := calls.Len(), 0
	for _, c := range calls.Elements() {
		if string(c.Member("status").Text()) != "canceled" {
			made++
		}
	}

	// A canceled call may or may not have been made, so it may be counted or not. The same is true
	// for calls that the source did not record.
	const count, list = "/autonomy_budget/consumed/tool_calls", "/side_effects/tool_calls"
	n := consumed.Float()
	few := n < float64(made) && !says.low(count) && !says.high(list)
	many := n > float64(listed) && !says.high(count) && !says.low(list)
	if few || many {
		rep.warn(CodeCountsDiffer, "/autonomy_budget/consumed/tool_calls",
			fmt.Sprintf("the budget counts %s tool calls, side_effects lists %d", decimalText(n), listed))
	}
}

func lintReplay(replay canon.Node, says claims, rep *Report) {
	if says.low("/replay_input/determinism") || says.low("/replay_input/unavailable_reason") {
		return
	}

	// A reason must be stated if no replay is possible, and must not be stated otherwise.
	unavailable := string(replay.Member("determinism").Text()) == "unavailable"
	explained := !replay.Member("unavailable_reason").IsZero()
	switch {
	case unavailable && !explained:
		rep.warn(CodeUnavailableReason, "/replay_input", "no replay is possible, but the reason is missing")
	case explained && !unavailable:
		rep.warn(CodeUnavailableReason, "/replay_input/unavailable_reason", "a reason for no replay is given, but a replay is possible")
	}
}

// lintRoot reports a root that is equal to the hash of the receipt itself. Because the hash covers
// the root, the root would have to be a fixed point of SHA-256.
func lintRoot(chain canon.Node, rep *Report) {
	if root := chain.Member("merkle_root"); !root.IsZero() && string(root.Text()) == string(chain.Member("receipt_hash").Text()) {
		rep.warn(CodeCircularRoot, rootPointer, "merkle_root is the receipt's own receipt_hash, which covers it: no batch, not even of one receipt, has that root")
	}
}

// lintCommitments reports fields that have several commitments. This is legitimate if an issuer
// withheld part of a string first and the rest of it later. However, it also allows an issuer to
// disclose different values of a field to different readers.
func lintCommitments(list canon.Node, rep *Report) {
	for _, entry := range list.Elements() {
		if field := entry.Member("field"); redact.Protected(field.Text()) {
			rep.warn(CodeProtectedField, place(field), "it names a member that is never withheld, because it identifies the receipt")
			break
		}
	}
	if list.Len() < 2 {
		return
	}

	first := map[string]canon.Node{} // by field
	for _, entry := range list.Elements() {
		field, proof := entry.Member("field"), entry.Member("proof_hash")
		// A harness may write its own redaction marker without a commitment. No value can be
		// disclosed for such a marker.
		if proof.IsZero() {
			continue
		}
		before, ok := first[string(field.Text())]
		switch {
		case !ok:
			first[field.String()] = proof
		case !bytes.Equal(before.Text(), proof.Text()):
			rep.warn(CodeRepeatedField, place(field), "another entry commits to another value of the same field; ask for both to be disclosed")
			return
		}
	}
}

// maxIDs limits the quadratic cost of lintUnique.
const maxIDs = 100

func lintIDs(root canon.Node, rep *Report) {
	effects := root.Member("side_effects")
	lintUnique(root.Member("approvals"), "approval_id", rep)
	lintUnique(root.Member("replay_input").Member("materials"), "id", rep)
	lintUnique(effects.Member("tool_calls"), "call_id", rep)
	lintUnique(root.Member("final_artifacts"), "artifact_id", rep)
	lintUnique(root.Member("deltas"), "delta_id", rep)
}

// lintUnique compares the IDs of the first hundred entries with each other.
func lintUnique(list canon.Node, member string, rep *Report) {
	var before [maxIDs][]byte
	for i, entry := range list.Elements() {
		if i == maxIDs {
			return
		}
		id := entry.Member(member)
		if id.IsZero() {
			continue
		}
		before[i] = id.Text()
		if j := slices.IndexFunc(before[:i], func(b []byte) bool { return b != nil && bytes.Equal(b, before[i]) }); j >= 0 {
			rep.warn(CodeRepeatedID, id.Pointer(), fmt.Sprintf("entries %d and %d have the same %s", j, i, member))
		}
	}
}

func decimalText(f float64) string { return string(canon.AppendFloat(nil, f)) }

// Pointers is a list of JSON Pointers (RFC 6901) in a receipt, sorted by their bytes. They refer to
// values in the same receipt.
type Pointers []string

// maxUnreported is the maximum number of entries that are read from a list of pointers. No receipt
// can contain enough calls, files, and hosts for more pointers, so a longer list must refer to
// other values.
const maxUnreported = 1 << 18

// ReadUnreported returns pointers to the values that the source of the receipt did not record
// completely, as listed in metadata.unreported. The format requires some members that not every
// source records. A listed value contains only the recorded part: a number is a lower bound, and 0,
// an empty list, or a name such as "unknown" conveys no information. In particular, 0 does not mean
// none. Programs that display a receipt should mark these values as not recorded by the source.
//
// Entries that are not valid pointers are skipped. A receipt without this list states that all of
// its members were recorded.
func ReadUnreported(root canon.Node) Pointers { return pointers(root, "unreported") }

// ReadAtMost returns the pointers that are listed in metadata.at_most. They refer to numbers and
// lists that may be larger than the actual ones, such as a total in which the source may have
// counted a call twice. The values at these pointers are upper bounds. If a number is also listed
// in metadata.unreported, it is the number that was recorded, and not a bound.
func ReadAtMost(root canon.Node) Pointers { return pointers(root, "at_most") }

// pointers returns a list of pointers from metadata.
func pointers(root canon.Node, name string) (list Pointers) {
	for i, n := range root.Member("metadata").Member(name).Elements() {
		if i == maxUnreported {
			break
		}
		if text := n.String(); n.Kind() == canon.KindString && strings.HasPrefix(text, "/") {
			list = append(list, text)
		}
	}

	// Lookups require a sorted list, and issuers normally write the list in sorted order.
	if !slices.IsSorted(list) {
		slices.Sort(list)
	}
	return list
}

// Has reports whether p contains pointer itself or a pointer to an enclosing value.
func (p Pointers) Has(pointer string) bool {
	for end := len(pointer); end > 0; end = strings.LastIndexByte(pointer[:end], '/') {
		if _, listed := slices.BinarySearch(p, pointer[:end]); listed {
			return true
		}
	}
	return false
}
