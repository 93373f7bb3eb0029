package headline

import (
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// An Origin provides the title, the project, the times, and the source of a receipt.
type Origin struct{ counter }

// Title returns the title of the receipt, or "" if it has none.
func (o Origin) Title() string { return o.name(o.Root.Member("metadata").Member("title")) }

// Project returns the name of the workspace without the hash that package record appends, or "" if
// the receipt does not state it.
func (o Origin) Project() string {
	name := o.name(o.Root.Member("identifiers").Member("workspace_ref"))
	if dot := len(name) - len(".01234567"); dot > 0 && name[dot] == '.' && strings.Trim(name[dot+1:], "0123456789abcdef") == "" {
		name = name[:dot]
	}
	return name
}

// Branch returns the Git branches that the source recorded, or "" if there are none.
func (o Origin) Branch() string {
	var names []string
	for _, n := range o.Root.Member("metadata").Member("source").Member("git_branches").Elements() {
		if name := o.name(n); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Times returns the start and the end of the task. Each is the zero time if the source did not
// report it.
func (o Origin) Times() (start, end time.Time) {
	return o.time(o.Root.Member("lifecycle").Member("started_at")), o.time(o.Root.Member("lifecycle").Member("completed_at"))
}

// Issued returns the time of issue, or the zero time if it is unknown.
func (o Origin) Issued() time.Time { return o.time(o.Root.Member("issued_at")) }

// Began returns the start of the task or, if that is unknown, the time of issue.
func (o Origin) Began() time.Time {
	if start, _ := o.Times(); !start.IsZero() {
		return start
	}
	return o.Issued()
}

func (o Origin) time(n canon.Node) time.Time {
	t, err := receipt.ParseTime(n.Text())
	if err != nil || o.Hidden(n) {
		return time.Time{}
	}
	return t.UTC()
}

// title returns the first line, which consists of the title if there is one, the project, the
// branch, and the start.
func (o Origin) title() (w Words) {
	part := func(before string, text Words) {
		if text.String() == "" {
			return
		}
		if len(w) > 0 {
			w = w.add(before)
		}
		w = w.join(text)
	}

	part("", Words{}.value(o.Title()))
	part(" · ", Words{}.value(o.Project()))
	if branch := o.Branch(); branch != "" {
		part(", ", Words{}.add("branch ").value(branch))
	}
	if start, _ := o.Times(); !start.IsZero() {
		part(" · ", Words{}.add(start.Format("2006-01-02 15:04 UTC")))
	}
	return w
}

// words returns words that identify the receipt, its issuer, and its source.
func (o Origin) words() Words {
	w := Words{}.quote(o.Root.Member("receipt_id"))
	issuer := o.Root.Member("issuer")
	w = w.add(", issued by ").quote(issuer.Member("id"))
	if name := o.name(issuer.Member("name")); name != "" {
		w = w.add(` "`).value(name).add(`"`)
	}
	if at := o.Issued(); !at.IsZero() {
		w = w.add(at.Format(" on 2006-01-02 at 15:04:05 UTC"))
	}

	source := o.Root.Member("metadata").Member("source")
	if kind := o.name(source.Member("kind")); kind != "" {
		w = w.add(", from ").value(kind)
		for i, n := range source.Member("versions").Elements() {
			if version := o.name(n); version != "" && i < maxRows {
				w = w.add(" ").value(version)
			}
		}
	}
	return w
}
