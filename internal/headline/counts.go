package headline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// A counter counts the distinct objects that the lists of a receipt name.
type counter struct{ *Reading }

// A tally is a list with the distinct objects that its entries name.
type tally struct {
	entries  int  // that happened
	distinct int  // things with a name
	unnamed  int  // entries that do not name their object
	open     bool // entries may be missing
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

// files counts distinct paths, and the writes if there are more of them.
func (r counter) files() string {
	t := r.written()
	if t.entries == 0 && t.open {
		return "files changed " + NotTold
	}
	text, in := t.parts("file", "changed")
	return text + in
}

// filesAlone is like files, without the noun.
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

// network counts the bytes that were sent, distinct hosts, and requests.
func (r counter) network() string {
	t := r.tally("network_egress", func(_ int, n canon.Node) string { return r.host(n.Member("destination")) })
	bytes, known := r.sent(t)
	if t.entries == 0 {
		return bytes
	}

	// Entries without a name may have the same host, so the number of hosts is a lower bound.
	n, more := t.things()
	hosts := Between(t.open || more, t.over) + Plural(n, "host", "")
	requests := Between(t.open, t.over) + Plural(t.entries, "request", "")

	switch {
	case !known:
		return hosts + ", " + requests + ", bytes not stated"
	case t.entries == 1:
		return bytes + " to " + hosts
	}

	return bytes + " to " + hosts + " in " + requests
}

// sent returns the number of bytes that were sent, and whether any entry states it. An entry that
// does not state it may have sent any number.
func (r counter) sent(t tally) (phrase string, known bool) {
	var stated []float64
	under, over := t.open, t.over
	for _, n := range r.Root.Member("side_effects").Member("network_egress").Elements() {
		if r.Possible(n) {
			continue
		}
		sent := n.Member("bytes_sent")
		least, most := r.Bounds(sent)
		under, over = under || least, over || most

		// Zero that is listed as a lower bound states nothing.
		if sent.Kind() == canon.KindNumber && (sent.Float() > 0 || !least) {
			stated = append(stated, sent.Float())
		}
	}

	// If no entry states the bytes, their number is unknown unless the list is complete and
	// empty.
	if len(stated) == 0 && (t.entries > 0 || under) {
		return "bytes sent " + NotTold, false
	}

	return Between(under || len(stated) < t.entries, over) + Group3(sum(stated)) + " bytes sent", true
}

// calls counts distinct calls, and those that did not succeed by how they ended. If two entries
// list the same call, its worst end counts.
func (r counter) calls() string {
	worst := []string{"failed", "canceled", "", "succeeded"}
	ends := map[string]string{}
	t := r.tally("tool_calls", func(i int, n canon.Node) string {
		id := strconv.Quote(r.name(n.Member("tool"))) + r.identity(n, i, "call_id")
		end := n.Member("status").String()
		if !slices.Contains(worst, end) || r.Hidden(n.Member("status")) {
			end = ""
		}
		if other, again := ends[id]; !again || slices.Index(worst, end) < slices.Index(worst, other) {
			ends[id] = end
		}
		return id
	})
	if t.entries == 0 && t.open {
		return "tool calls " + NotTold
	}

	counts := map[string]int{}

	// Only calls that did not succeed are listed by their ends.
	for _, end := range ends {
		counts[end]++
	}
	text := Between(t.open, t.over) + Plural(t.distinct, "tool call", "")
	if phrases := phrases(counts, [][2]string{{"failed", "failed"}, {"canceled", "canceled"}, {"", "of unknown outcome"}}); len(phrases) > 0 {
		text += " (" + strings.Join(phrases, ", ") + ")"
	}

	return text
}

// approvals counts decisions: a request that was denied, or that nobody answered, is not an
// approval.
func (r counter) approvals() string {
	counts := r.decided()
	text := r.Bound("/approvals") + Plural(counts["approved"], "approval", "")
	if counts["approved"] == 0 && r.Untold.Has("/approvals") {
		text = "approvals " + NotTold
	}
	return strings.Join(append([]string{text}, phrases(counts, otherDecisions())...), ", ")
}

// decisions is like approvals, without the noun.
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
		decision := n.Member("decision").String()
		if !slices.Contains([]string{"approved", "denied", "canceled", "timeout"}, decision) || r.Hidden(n.Member("decision")) {
			decision = ""
		}
		counts[decision]++
	}
	return counts
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

// name returns a name that the receipt states, or "" if the source did not report it or a part of
// it was withheld.
func (r counter) name(n canon.Node) string {
	if n.Kind() != canon.KindString || r.Hidden(n) {
		return ""
	}
	return unveiled(n.String())
}

// unveiled returns a text, or "" if a part of it was withheld, because two texts with the same
// placeholder need not be equal.
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
