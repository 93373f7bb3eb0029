package headline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A counter counts the things that the lists of a receipt name.
type counter struct{ *Reading }

// A tally is a list with the distinct things that its entries name.
type tally struct {
	entries  int  // that happened
	distinct int  // things with a name
	unnamed  int  // entries whose thing the receipt does not name
	open     bool // entries may be missing
	over     bool // there may be fewer entries
}

// things returns the minimum number of distinct things, and whether there may be more. Several
// unnamed entries may refer to one thing, or to things that other entries name.
func (t tally) things() (n int, more bool) {
	if t.unnamed == 0 || t.entries == 1 {
		return t.distinct + t.unnamed, false
	}
	return max(t.distinct, 1), true
}

// tally counts the entries of a list of side effects. An entry that may not have happened
// is not counted. The name of an entry is "" if the receipt withholds it.
func (r counter) tally(list string, name func(i int, n canon.Node) string) tally {
	at := "/side_effects/" + list
	t, seen := tally{open: r.Untold.Has(at), over: r.Over.Has(at)}, map[string]bool{}

	// Entries without a name are counted, because each of them happened.
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

// happened returns the entries of a list of side effects that are not merely possible.
func (r counter) happened(list string) (nodes []canon.Node) {
	for _, n := range r.Root.Member("side_effects").Member(list).Elements() {
		if !r.Possible(n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// files counts distinct paths, and the writes if there are more of them. It is "" if the receipt
// does not state any number.
func (r counter) files() string {
	t := r.written()
	if t.entries == 0 && t.open {
		return ""
	}
	text, in := t.parts("file", "changed")
	return text + in
}

// filesAlone is files without the noun.
func (r counter) filesAlone() string {
	t := r.written()
	if t.entries == 0 && t.open {
		return NotTold
	}
	n, more := t.things()
	_, in := t.parts("file", "")
	return Between(t.open || more, t.over) + Group3(strconv.Itoa(n)) + in
}

func (r counter) written() tally {
	return r.tally("fs_writes", func(_ int, n canon.Node) string { return r.name(n.Member("path")) })
}

// parts returns the number of files, and the number of writes if it differs.
func (t tally) parts(noun, verb string) (text, in string) {
	n, more := t.things()
	text = Between(t.open || more, t.over) + Plural(n, noun, verb)
	if n != t.entries {
		in = " in " + Between(t.open, t.over) + Plural(t.entries, "write", "")
	}
	return text, in
}

// requests is the tally of hosts.
func (r counter) requests() tally {
	return r.tally("network_egress", func(_ int, n canon.Node) string { return r.host(n.Member("destination")) })
}

// network counts requests, distinct hosts, and the bytes that were sent. It is "" if the receipt
// does not state any number.
func (r counter) network() string {
	t := r.requests()
	if t.entries == 0 {
		if t.open {
			return ""
		}
		return "0 requests"
	}

	// Entries without a name may be of the same host, so hosts are a lower bound.
	n, more := t.things()
	text := Between(t.open, t.over) + Plural(t.entries, "request", "") + " to " + Between(t.open || more, t.over) + Plural(n, "host", "")
	if bytes, known := r.sent(t); known {
		text += ", " + bytes
	}
	return text
}

// sent returns the number of bytes that were sent, and whether any entry states it.
func (r counter) sent(t tally) (phrase string, known bool) {
	return r.sentBy(r.happened("network_egress"), t.open, t.over)
}

// sentBy is sent for some requests. A request that does not state the bytes may have sent any number.
func (r counter) sentBy(requests []canon.Node, under, over bool) (phrase string, known bool) {
	var stated []float64
	for _, n := range requests {
		sent := n.Member("bytes_sent")
		least, most := r.Bounds(sent)
		under, over = under || least, over || most

		// Zero that is listed as a lower bound states nothing.
		if sent.Kind() == canon.KindNumber && (sent.Float() > 0 || !least) {
			stated = append(stated, sent.Float())
		}
	}
	if len(stated) == 0 {
		return "", false
	}
	return Between(under || len(stated) < len(requests), over) + Group3(sum(stated)) + " bytes sent", true
}

// A call is a distinct tool call with its worst end.
type call struct{ tool, end string }

// distinctCalls returns the distinct calls. A call that two entries list counts as its worst end.
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
		if end == "canceled" && denied[r.name(n.Member("call_id"))] {
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

// denied returns the IDs of the calls that an approval denied: the ID of the approval is that of its
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

// unsuccessful lists how many calls ended in another way than successfully.
func unsuccessful(counts map[string]int) string {
	list := phrases(counts, [][2]string{{"failed", "failed"}, {"denied", "denied"}, {"canceled", "canceled"}, {"", "of unknown outcome"}})
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// calls counts distinct calls, and those that did not succeed by how they ended. It is "" if the
// receipt does not state any number.
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

// approvals counts decisions: a request that was denied, or that nobody answered, is not an
// approval. It is "" if the receipt does not state any decision.
func (r counter) approvals() string {
	counts := r.decided()
	others := phrases(counts, otherDecisions())
	if counts["approved"] == 0 && r.Untold.Has("/approvals") {
		if len(others) == 0 {
			return ""
		}
		return "approvals: " + strings.Join(others, ", ")
	}
	return strings.Join(append([]string{r.Bound("/approvals") + Plural(counts["approved"], "approval", "")}, others...), ", ")
}

// decisions is approvals without the noun.
func (r counter) decisions() string {
	counts := r.decided()
	switch {
	case len(counts) > 0:
		return r.Bound("/approvals") + strings.Join(phrases(counts, append([][2]string{{"approved", "approved"}}, otherDecisions()...)), ", ")
	case r.Untold.Has("/approvals"):
		return NotTold
	}
	return "none"
}

func otherDecisions() [][2]string {
	return [][2]string{{"denied", "denied"}, {"canceled", "canceled"}, {"timeout", "timed out"}, {"", "of unknown decision"}}
}

func (r counter) decided() map[string]int {
	counts := map[string]int{}
	for _, n := range r.Root.Member("approvals").Elements() {
		counts[r.decision(n)]++
	}
	return counts
}

// decision returns the decision of an approval, or "" if it is unknown.
func (r counter) decision(n canon.Node) string {
	decision := n.Member("decision").String()
	if !slices.Contains([]string{"approved", "denied", "canceled", "timeout"}, decision) || r.Hidden(n.Member("decision")) {
		return ""
	}
	return decision
}

// phrases writes counts in the order of their words.
func phrases(counts map[string]int, words [][2]string) (text []string) {
	for _, w := range words {
		if n := counts[w[0]]; n > 0 {
			text = append(text, Group3(strconv.Itoa(n))+" "+w[1])
		}
	}
	return text
}

// name is a name that the receipt states; "" if the source did not report it, or if a part
// of it was withheld.
func (r counter) name(n canon.Node) string {
	if n.Kind() != canon.KindString || r.Hidden(n) {
		return ""
	}
	return unveiled(n.String())
}

// unveiled returns a text, or "" if a part of it was withheld: two texts with the same
// placeholder need not be the same.
func unveiled(text string) string {
	// Placeholders of packages redact and record.
	for _, placeholder := range []string{"[redacted]", "[withheld]", "<redacted:", "(outside the workspace)"} {
		if strings.Contains(text, placeholder) {
			return ""
		}
	}
	return text
}

// identity returns the identity of an entry. An entry without the member differs from all others.
func (r counter) identity(n canon.Node, i int, member string) string {
	if name := r.name(n.Member(member)); name != "" {
		return "=" + name
	}
	return "#" + strconv.Itoa(i)
}

// host returns the host of a destination, even if other parts of it were withheld.
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

	// An IPv6 address has brackets before a port (RFC 3986, 3.2.2), and may have none otherwise.
	if inner, _, closed := strings.Cut(strings.TrimPrefix(host, "["), "]"); closed && strings.HasPrefix(host, "[") && strings.Contains(inner, ":") {
		host = inner
	} else if strings.Count(host, ":") == 1 {
		host, _, _ = strings.Cut(host, ":")
	}

	return strings.ToLower(strings.TrimSuffix(host, "."))
}
