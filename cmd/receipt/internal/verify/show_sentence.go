package verify

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt"
)

// notTold stands in the place of what metadata.unreported lists.
const notTold = "not told by the source"

// A sentence says what happened in one line.
type sentence struct{ *Shown }

func (s sentence) line() string {
	effects := s.Root.Member("side_effects")
	told := []string{
		s.count("/side_effects/fs_writes", effects.Member("fs_writes").Len(), "file", "changed"),
		s.sent(effects.Member("network_egress")),
		s.count("/side_effects/tool_calls", effects.Member("tool_calls").Len(), "tool call", "") + s.unsuccessful(effects.Member("tool_calls")),
		s.approvals(),
	}

	cost, unknown := s.cost()
	if unknown {
		told = append(told, "cost "+notTold)
	}

	head := "Task " + s.outcome() + s.took() + cost
	if s.untold.Has("/lifecycle/final_state") {
		head += ", outcome " + notTold
	}

	return head + ": " + strings.Join(told, ", ") + "."
}

func (s sentence) outcome() string {
	if s.untold.Has("/lifecycle/final_state") {
		return "ended"
	}
	switch s.Root.Member("lifecycle").Member("final_state").String() {
	case "SUCCEEDED":
		return "succeeded"
	case "FAILED":
		return "failed"
	case "CANCELED":
		return "was canceled"
	}
	return "ended in an unknown state"
}

// took is how long the task ran, when both times are known.
func (s sentence) took() string {
	lifecycle := s.Root.Member("lifecycle")
	start, err1 := receipt.ParseTime(lifecycle.Member("started_at").Text())
	end, err2 := receipt.ParseTime(lifecycle.Member("completed_at").Text())
	if err1 != nil || err2 != nil || end.Before(start) || s.untold.Has("/lifecycle/started_at") || s.untold.Has("/lifecycle/completed_at") {
		return ""
	}
	return " in " + cli.BetweenText(start, end)
}

// cost is the total as a phrase, or whether the source did not tell any of it.
func (s sentence) cost() (phrase string, unknown bool) {
	cost := s.Root.Member("cost")
	total := cost.Member("total")
	switch {
	case s.untold.Has("/cost/total") && !(total.Float() > 0):
		return "", true
	case total.Kind() == canon.KindNumber:
		phrase = " for " + s.bound("/cost/total")
		if s.hidden(cost.Member("currency")) {
			return phrase + cli.Number(total) + s.reckoned("/cost/total") + ", currency " + notTold, false
		}
		phrase += s.text(cost, "currency") + " " + cli.Number(total) + s.reckoned("/cost/total")
	}
	return phrase, false
}

// count is how many entries a list has; a list that the source did not tell whole
// has at least as many.
func (s sentence) count(pointer string, n int, noun, verb string) string {
	if n > 0 || !s.untold.Has(pointer) {
		return s.bound(pointer) + cli.Plural(n, noun, verb)
	}
	return strings.TrimSpace(noun+"s "+verb) + " " + notTold
}

// sent is how many bytes left. An entry that states none is not one of no bytes.
func (s sentence) sent(egress canon.Node) string {
	var stated []float64
	possible, under, over := 0, s.untold.Has("/side_effects/network_egress"), s.over.Has("/side_effects/network_egress")
	for _, n := range egress.Elements() {
		if s.possible(n) {
			possible++
			continue
		}
		sent := n.Member("bytes_sent")
		least, most := s.bounds(sent)
		under, over = under || least, over || most
		if sent.Kind() == canon.KindNumber && (sent.Float() > 0 || !least) {
			stated = append(stated, sent.Float())
		}
	}

	// Absent is not zero: where an entry states nothing, the sum is a lower bound.
	switch {
	case len(stated) > 0 || egress.Len() == 0 && !under:
		return between(under || len(stated) < egress.Len(), over) + cli.Group3(sum(stated)) + " bytes sent"
	case egress.Len() > possible:
		return fmt.Sprintf("sent to %s, bytes not stated", cli.Plural(egress.Len()-possible, "destination", ""))
	}

	return "bytes sent " + notTold
}

// sum is exact where all numbers are whole.
func sum(numbers []float64) string {
	about, exact, whole := 0.0, new(big.Int), true
	for _, n := range numbers {
		i, accuracy := big.NewFloat(n).Int(nil)
		exact.Add(exact, i)
		about, whole = about+n, whole && accuracy == big.Exact
	}
	if whole {
		return exact.String()
	}
	return strconv.FormatFloat(about, 'f', -1, 64)
}

// unsuccessful counts the calls that did not succeed, by how they ended.
func (s sentence) unsuccessful(calls canon.Node) string {
	phrases := s.phrases(calls, "status", [][2]string{{"failed", "failed"}, {"canceled", "canceled"}, {"", "of unknown outcome"}}, "succeeded")
	if len(phrases) == 0 {
		return ""
	}
	return " (" + strings.Join(phrases, ", ") + ")"
}

// approvals are counted by decision: a request that was denied, or that nobody
// answered, is not an approval.
func (s sentence) approvals() string {
	list, approved := s.Root.Member("approvals"), 0
	for _, n := range list.Elements() {
		if decision := n.Member("decision"); decision.String() == "approved" && !s.hidden(decision) {
			approved++
		}
	}
	others := s.phrases(list, "decision", [][2]string{{"denied", "denied"}, {"canceled", "canceled"}, {"timeout", "timed out"}, {"", "of unknown decision"}}, "approved")
	return strings.Join(append([]string{s.count("/approvals", approved, "approval", "")}, others...), ", ")
}

// phrases counts the entries of a list by what a member of each says, except for
// those that say usual. The words name each count; "" is for all other values, and for
// what the source did not tell.
func (s sentence) phrases(list canon.Node, member string, words [][2]string, usual string) (text []string) {
	counts := map[string]int{}
	for _, n := range list.Elements() {
		value := n.Member(member).String()
		if s.hidden(n.Member(member)) {
			value = ""
		} else if !slices.ContainsFunc(words, func(w [2]string) bool { return w[0] == value }) && value != usual {
			value = ""
		}
		counts[value]++
	}
	for _, w := range words {
		if n := counts[w[0]]; n > 0 {
			text = append(text, cli.Group3(strconv.Itoa(n))+" "+w[1])
		}
	}
	return text
}
