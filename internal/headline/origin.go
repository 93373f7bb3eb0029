package headline

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// Title returns the title that the receipt states, or "".
func (r *Reading) Title() string { return counter{r}.name(r.Root.Member("metadata").Member("title")) }

// Project returns the name of the workspace without the hash that package record appends, or "".
func (r *Reading) Project() string {
	name := counter{r}.name(r.Root.Member("identifiers").Member("workspace_ref"))
	return regexp.MustCompile(`(.)\.[0-9a-f]{8}$`).ReplaceAllString(name, "$1")
}

// Branch returns the branches that the source recorded, or "".
func (r *Reading) Branch() string {
	var names []string
	for _, n := range r.Root.Member("metadata").Member("source").Member("git_branches").Elements() {
		if name := (counter{r}).name(n); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Times returns the start and the end of the task, or the zero time if the source did not report one.
func (r *Reading) Times() (start, end time.Time) {
	return r.time(r.Root.Member("lifecycle").Member("started_at")), r.time(r.Root.Member("lifecycle").Member("completed_at"))
}

// Issued returns the time of issue, or the zero time.
func (r *Reading) Issued() time.Time { return r.time(r.Root.Member("issued_at")) }

func (r *Reading) time(n canon.Node) time.Time {
	t, err := receipt.ParseTime(n.Text())
	if err != nil || r.Hidden(n) {
		return time.Time{}
	}
	return t.UTC()
}

// title returns the first line: the title if there is one, the project, the branch, and the start.
func (r *Reading) title() (w Words) {
	part := func(before string, text Words) {
		if text.String() == "" {
			return
		}
		if len(w) > 0 {
			w = w.add(before)
		}
		w = w.join(text)
	}

	part("", Words{}.value(r.Title()))
	part(" · ", Words{}.value(r.Project()))
	if branch := r.Branch(); branch != "" {
		part(", ", Words{}.add("branch ").value(branch))
	}
	if start, _ := r.Times(); !start.IsZero() {
		part(" · ", Words{}.add(start.Format("2006-01-02 15:04 UTC")))
	}
	return w
}

// origin names the receipt, its issuer, and the source that it was recorded from.
func (d *description) origin() Words {
	w := Words{}.quote(d.Root.Member("receipt_id"))
	issuer := d.Root.Member("issuer")
	w = w.add(", issued by ").quote(issuer.Member("id"))
	if name := d.name(issuer.Member("name")); name != "" {
		w = w.add(` "`).value(name).add(`"`)
	}
	if at := d.Issued(); !at.IsZero() {
		w = w.add(at.Format(" on 2006-01-02 at 15:04:05 UTC"))
	}

	source := d.Root.Member("metadata").Member("source")
	if kind := d.name(source.Member("kind")); kind != "" {
		w = w.add(", from ").value(kind)
		for i, n := range source.Member("versions").Elements() {
			if version := d.name(n); version != "" && i < maxRows {
				w = w.add(" ").value(version)
			}
		}
	}
	return w
}

// unrecorded names the parts of the receipt that its source did not report. A number that is only
// a bound is not named, because the bound is printed.
func (d *description) unrecorded() (names []string) {
	for _, pointer := range d.Untold {
		names = append(names, d.unrecordedAt(pointer)...)
	}
	t := d.requests()
	if _, known := d.sent(t); t.entries > 0 && !known {
		names = append(names, "bytes sent")
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "" })

	// Each name is used once, in the order of the first pointer.
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// unrecordedAt names the part at a pointer.
func (d *description) unrecordedAt(pointer string) []string {
	if pointer == "/side_effects" {
		return []string{d.unlisted("/side_effects/fs_writes", "file changes"), d.unlisted("/side_effects/tool_calls", "tool calls"),
			d.unlisted("/side_effects/network_egress", "requests"), d.unlisted("/side_effects/a2a_handoffs", "handoffs")}
	}

	tokens := strings.Split(pointer, "/")[1:]
	last := strings.ReplaceAll(tokens[len(tokens)-1], "_", " ")
	switch tokens[0] {
	case "approvals", "side_effects", "final_artifacts", "redactions", "deltas":
		return []string{d.unlistedEntry(pointer, tokens)}
	case "cost":
		return []string{d.uncosted(pointer)}
	case "autonomy_budget":
		return []string{d.unspent(tokens, last)}
	case "trust":
		return []string{"autonomy tier"}
	case "replay_input":
		return []string{"replay input"}
	}

	if name, known := unrecordedNames()[pointer]; known {
		return []string{name}
	}
	if tokens[0] == "identifiers" && len(tokens) == 2 && len(last) < 40 {
		return []string{last}
	}
	return []string{"other values"}
}

// unrecordedNames maps pointers to the names of values.
func unrecordedNames() map[string]string {
	return map[string]string{
		"/issued_at": "time of issue", "/lifecycle/started_at": "start", "/lifecycle/completed_at": "end", "/lifecycle/final_state": "outcome",
		"/model_route": "model", "/model_route/chosen_model": "model", "/model_route/chosen_model/model": "model", "/model_route/chosen_model/provider": "model provider",
		"/identifiers/workspace_ref": "project", "/metadata/source": "details of the source",
	}
}

// unlistedEntry names a list that may be incomplete, or a member of its entries.
func (d *description) unlistedEntry(pointer string, tokens []string) string {
	lists := map[string]string{
		"/approvals": "approvals", "/final_artifacts": "artifacts", "/redactions": "withheld values", "/deltas": "substitutions",
		"/side_effects/fs_writes": "file changes", "/side_effects/tool_calls": "tool calls", "/side_effects/network_egress": "requests", "/side_effects/a2a_handoffs": "handoffs",
	}
	if noun := lists[pointer]; noun != "" {
		return d.unlisted(pointer, noun)
	}

	list, rest := "/"+tokens[0], tokens[1:]
	if tokens[0] == "side_effects" && len(tokens) > 2 {
		list, rest = list+"/"+tokens[1], tokens[2:]
	}
	noun := lists[list]
	if noun == "" {
		return "other values"
	}
	if len(rest) < 2 {
		return "whether some " + noun + " happened"
	}
	switch member := strings.Join(rest[1:], "/"); member {
	case "before_sha256", "after_sha256":
		return "contents of some files"
	case "status":
		return "outcomes of some " + noun
	case "destination":
		return "hosts of some requests"
	case "bytes_sent":
		return "bytes of some requests"
	}
	return "details of some " + noun
}

// unlisted names a list that may be incomplete.
func (d *description) unlisted(pointer, noun string) string {
	list := d.Root
	for _, name := range strings.Split(pointer, "/")[1:] {
		list = list.Member(name)
	}
	if list.Len() > 0 {
		return "further " + noun
	}
	return noun
}

// uncosted names a part of the cost, unless a bound of it is printed.
func (d *description) uncosted(pointer string) string {
	switch {
	case d.untoldCost():
		return "cost"
	case pointer == "/cost/currency":
		return "currency"
	case pointer == "/cost/total", pointer == "/cost":
		return ""
	}
	return "cost by model"
}

// unspent names a part of the budget, unless a bound of it is printed or the cost is named.
func (d *description) unspent(tokens []string, last string) string {
	if len(tokens) != 3 || len(last) > 40 {
		return "budget"
	}
	n := d.Root.Member(tokens[0]).Member(tokens[1]).Member(tokens[2])
	switch {
	case n.Float() > 0, last == "usd" && d.untoldCost(), last == "wall time ms":
		return ""
	case tokens[1] == "limit":
		return "limit of " + last
	}
	return last
}
