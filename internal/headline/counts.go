package headline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A counter counts the distinct objects that are named in the lists of a receipt.
type counter struct{ *Reading }

// A tally is the result of counting the entries of a list and the distinct objects that they name.
type tally struct {
	entries  int  // that happened
	distinct int  // objects that are named
	unnamed  int  // entries whose object is not named
	open     bool // there may be more entries
	over     bool // there may be fewer entries
}

// things returns the minimum number of distinct objects, and reports whether there may be more.
// Several unnamed entries may refer to the same object, or to objects that other entries name.
func (t tally) things() (n int, more bool) {
	if t.unnamed == 0 || t.entries == 1 {
		return t.distinct + t.unnamed, false
	}
	return max(t.distinct, 1), true
}

// tally counts the entries of a list of side effects. An entry for an effect that may not have
// happened is not counted. If the receipt withholds the name of an entry, name must return "".
func (r counter) tally(list string, name func(i int, n canon.Node) string) tally {
	at := "/side_effects/" + list
	t, seen := tally{open: r.Unreported.Has(at), over: r.Over.Has(at)}, map[string]bool{}

	// Entries without a name are also counted, because each of their effects happened.
	for i, n := range r.Root.Member("side_effects").Member(list).Elements() {
		if r.Possible(n) {
			t.open = true
			continue
		}
		t.entries++
		if named := name(i, n); named != "" {
			seen[named] = true
		} else {
			t.unnamed++
		}
	}
	t.distinct = len(seen)
	return t
}

// happened returns the entries in a list of side effects, without entries for effects that may not
// have happened.
func (r counter) happened(list string) (nodes []canon.Node) {
	for _, n := range r.Root.Member("side_effects").Member(list).Elements() {
		if !r.Possible(n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// files returns the number of distinct paths and, if it differs, the number of writes. It returns
// "" if the receipt states no number.
func (r counter) files() string {
	t := r.written()
	if t.entries == 0 && t.open {
		return ""
	}
	text, in := t.parts("file", "changed")
	return text + in
}

func (r counter) written() tally {
	return r.tally("fs_writes", func(_ int, n canon.Node) string { return r.name(n.Member("path")) })
}

// parts returns a phrase with the number of objects and, if it differs, a phrase with the number of
// writes.
func (t tally) parts(noun, verb string) (text, in string) {
	n, more := t.things()
	text = Between(t.open || more, t.over) + Plural(n, noun, verb)
	if n != t.entries {
		in = " in " + Between(t.open, t.over) + Plural(t.entries, "write", "")
	}
	return text, in
}

// requests returns the tally of network requests by host.
func (r counter) requests() tally {
	return r.tally("network_egress", func(_ int, n canon.Node) string { return r.host(n.Member("destination")) })
}

// network describes the number of requests, of distinct hosts, and of bytes sent. It returns "" if
// the receipt states no number.
func (r counter) network() string {
	t := r.requests()
	if t.entries == 0 {
		if t.open {
			return ""
		}
		return "0 requests"
	}

	// Entries without a name may refer to the same host, so the number of hosts is a lower bound.
	n, more := t.things()
	text := Between(t.open, t.over) + Plural(t.entries, "request", "") + " to " + Between(t.open || more, t.over) + Plural(n, "host", "")
	if bytes, known := r.sent(t); known {
		text += ", " + bytes
	}
	return text
}

// sent describes the number of bytes sent, and reports whether any entry states this number.
func (r counter) sent(t tally) (phrase string, known bool) {
	return r.sentBy(r.happened("network_egress"), t.open, t.over)
}

// sentBy is like sent, but for the given requests. A request that does not state a number of bytes
// may have sent any number.
func (r counter) sentBy(requests []canon.Node, under, over bool) (phrase string, known bool) {
	var stated []float64
	for _, n := range requests {
		sent := n.Member("bytes_sent")
		least, most := r.Bounds(sent)
		under, over = under || least, over || most

		// A zero that is listed as a lower bound provides no information.
		if sent.Kind() == canon.KindNumber && (sent.Float() > 0 || !least) {
			stated = append(stated, sent.Float())
		}
	}
	if len(stated) == 0 {
		return "", false
	}
	return Between(under || len(stated) < len(requests), over) + Group3(sum(stated)) + " bytes sent", true
}

// A call is a distinct tool call with its worst outcome.
type call struct{ tool, end string }

// distinctCalls returns the distinct tool calls. If two entries list the same call with different
// outcomes, the worse outcome counts.
func (r counter) distinctCalls() (calls []*call, t tally) {
	worst := []string{"failed", "denied", "canceled", "", "succeeded"}
	denied, by := r.denied(), map[string]*call{}
	t = r.tally("tool_calls", func(i int, n canon.Node) string {
		tool := r.name(n.Member("tool"))
		id := strconv.Quote(tool) + r.identity(n, i, "call_id")
		end := n.Member("status").String()
		if end == "denied" || !slices.Contains(worst, end) || r.Hidden(n.Member("status")) {
			end = ""
		}
		if end == "canceled" && (denied[r.name(n.Member("call_id"))] || n.Member("metadata").Member("error_category").String() == "permission_denied") {
			end = "denied"
		}

		c := by[id]
		if c == nil {
			c = &call{tool, end}
			by[id] = c
			calls = append(calls, c)
		}
		if slices.Index(worst, end) < slices.Index(worst, c.end) {
			c.end = end
		}
		return id
	})
	return calls, t
}

// denied returns the IDs of the calls that an approval denied; an approval has the same ID as its
// call.
func (r counter) denied() map[string]bool {
	ids := map[string]bool{}
	for _, n := range r.Root.Member("approvals").Elements() {
		if id := r.name(n.Member("approval_id")); id != "" && r.decision(n) == "denied" {
			ids[id] = true
		}
	}
	return ids
}

// unsuccessful returns the number of calls with each outcome other than success.
func unsuccessful(counts map[string]int) string {
	list := phrases(counts, [][2]string{{"failed", "failed"}, {"denied", "denied"}, {"canceled", "canceled"}, {"", "of unknown outcome"}})
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// calls describes the number of distinct calls, and the number of calls with each outcome other
// than success. It returns "" if the receipt states no number.
func (r counter) calls() string {
	calls, t := r.distinctCalls()
	if t.entries == 0 && t.open {
		return ""
	}
	counts := map[string]int{}
	for _, c := range calls {
		counts[c.end]++
	}
	return Between(t.open, t.over) + Plural(t.distinct, "tool call", "") + unsuccessful(counts)
}

// approvals describes the numbers of decisions. A request that was denied, or that nobody answered,
// does not count as an approval. It returns "" if the receipt states no decision.
func (r counter) approvals() string {
	counts := r.decided()
	others := phrases(counts, [][2]string{{"denied", "denied"}, {"canceled", "canceled"}, {"timeout", "timed out"}, {"", "of unknown decision"}})
	if counts["approved"] == 0 && r.Unreported.Has("/approvals") {
		if len(others) == 0 {
			return ""
		}
		return "approvals: " + strings.Join(others, ", ")
	}
	return strings.Join(append([]string{r.Bound("/approvals") + Plural(counts["approved"], "approval", "")}, others...), ", ")
}

func (r counter) decided() map[string]int {
	counts := map[string]int{}
	for _, n := range r.Root.Member("approvals").Elements() {
		counts[r.decision(n)]++
	}
	return counts
}

// decision returns the decision of an approval, or "" if the decision is unknown.
func (r counter) decision(n canon.Node) string {
	decision := n.Member("decision").String()
	if !slices.Contains([]string{"approved", "denied", "canceled", "timeout"}, decision) || r.Hidden(n.Member("decision")) {
		return ""
	}
	return decision
}

// phrases formats counts in the order of their names in words.
func phrases(counts map[string]int, words [][2]string) (text []string) {
	for _, w := range words {
		if n := counts[w[0]]; n > 0 {
			text = append(text, Group3(strconv.Itoa(n))+" "+w[1])
		}
	}
	return text
}

// name returns a name that the receipt states. It returns "" if the source did not report the name,
// or if a part of it was withheld.
func (r counter) name(n canon.Node) string {
	if n.Kind() != canon.KindString || r.Hidden(n) {
		return ""
	}
	return unveiled(n.String())
}

// gap describes why name returns "": either the source did not record the name, or the receipt does
// not state it.
func (r counter) gap(n canon.Node) string {
	if r.Hidden(n) {
		return NotRecorded
	}
	return "not stated"
}

// unveiled returns text, or "" if a part of it was withheld, because two strings with the same
// placeholder may have had different contents.
func unveiled(text string) string {
	// These are the placeholders of packages redact and record.
	for _, placeholder := range []string{"[redacted]", "[withheld]", "<redacted:", "(outside the workspace)"} {
		if strings.Contains(text, placeholder) {
			return ""
		}
	}
	return text
}

// identity returns a key that identifies the object of an entry. An entry without the member
// differs from all other entries.
func (r counter) identity(n canon.Node, i int, member string) string {
	if name := r.name(n.Member(member)); name != "" {
		return "=" + name
	}
	return "#" + strconv.Itoa(i)
}

// host returns the host of a destination, even if other parts of the destination were withheld.
func (r counter) host(destination canon.Node) string {
	if destination.Kind() != canon.KindString || r.Hidden(destination) {
		return ""
	}
	return unveiled(hostOf(destination.String()))
}

// hostOf returns the host of a destination, which is a host, a host with a port, or a URL.
func hostOf(destination string) string {
	if _, rest, isURL := strings.Cut(destination, "://"); isURL {
		destination = rest
	}
	if end := strings.IndexAny(destination, "/?#"); end > 0 {
		destination = destination[:end]
	}
	host := destination[strings.LastIndexByte(destination, '@')+1:]

	// An IPv6 address has brackets if a port follows (RFC 3986, 3.2.2); otherwise, brackets are
	// optional.
	if inner, _, closed := strings.Cut(strings.TrimPrefix(host, "["), "]"); closed && strings.HasPrefix(host, "[") && strings.Contains(inner, ":") {
		host = inner
	} else if strings.Count(host, ":") == 1 {
		host, _, _ = strings.Cut(host, ":")
	}

	return strings.ToLower(strings.TrimSuffix(host, "."))
}
