package journal

import (
	"slices"
	"strconv"
	"strings"
	"unique"

	"github.com/receiptkit/receiptkit/canon"
)

// A place contains the position of an event in the file, and the event's kind, workspace, session,
// and task.
type place struct {
	at                       int64 // offset in the file
	size                     int
	kind                     unique.Handle[string]
	workspace, session, task unique.Handle[string]
}

// An index is used to find events in the file. Events are numbered from 1.
type index struct {
	places     []place
	of         map[unique.Handle[string]][]int // numbers of the events in each task or session
	workspaces map[unique.Handle[string]][]int // numbers of the events in each workspace; "" stands for events without a workspace
	last       map[Pointer]last                // the last event of each resource
}

func newIndex() *index {
	return &index{of: map[unique.Handle[string]][]int{}, workspaces: map[unique.Handle[string]][]int{}, last: map[Pointer]last{}}
}

// add adds the events in a commit whose line starts at the given offset.
func (x *index) add(c *Commit, doc *canon.Document, at int64) {
	for i, text := range doc.Root().Member("events").Elements() {
		e := &c.Events[i]
		p := place{at + int64(text.Offset()), len(text.Raw()), unique.Make(e.Kind), unique.Make(e.Workspace), unique.Make(e.Session), unique.Make(e.Task)}
		x.places = append(x.places, p)
		x.workspaces[p.workspace] = append(x.workspaces[p.workspace], len(x.places))
		for _, name := range []unique.Handle[string]{p.session, p.task} {
			list := x.of[name]
			if name.Value() != "" && (len(list) == 0 || list[len(list)-1] != len(x.places)) { // a session and a task may have the same name
				x.of[name] = append(list, len(x.places))
			}
		}
		x.last[e.Resource] = last{e.ID, e.Sequence}
	}
}

// idOf returns the ID of the event with the given number.
func idOf(number int) string { return "event_" + strconv.Itoa(number) }

// numberOf returns the number of the event with the given ID, which must be spelled canonically.
func numberOf(id string) (int, bool) {
	digits, ok := strings.CutPrefix(id, "event_")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && idOf(n) == id
}

// among returns the numbers of the events that can be in a view. The result all reports whether
// these are all the events in the journal, in which case numbers is nil.
func (x *index) among(v View) (numbers []int, all bool) {
	for _, name := range []string{v.Task, v.Session} {
		if name != "" {
			return x.of[unique.Make(name)], false
		}
	}
	if v.Workspace != "" {
		return x.workspaces[unique.Make(v.Workspace)], false
	}
	return nil, true
}

// fits reports whether a view contains an event.
func (p *place) fits(v View) bool {
	for _, pair := range [][2]string{{v.Task, p.task.Value()}, {v.Session, p.session.Value()}, {v.Workspace, p.workspace.Value()}} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return v.Sees == nil || v.Sees(p.workspace.Value())
}

// near is the number of events that are checked one by one before the lists for workspaces are
// used. A reader that sees most events usually finds the next events among them.
const near = 1024

// after returns the numbers of up to limit events in a view that follow the given number. The
// result end reports whether there are no more.
func (x *index) after(v View, number, limit int) (found []int, end bool) {
	numbers, all := x.among(v)
	if !all {
		from, _ := slices.BinarySearch(numbers, number+1)
		return x.fitting(v, numbers[from:], limit)
	}

	most := min(number+near, len(x.places))
	for n := number + 1; n <= most; n++ {
		if x.places[n-1].fits(v) {
			if found = append(found, n); len(found) == limit {
				return found, n == len(x.places)
			}
		}
	}
	if most == len(x.places) {
		return found, true
	}
	more, end := x.fitting(v, x.seen(v, most, limit-len(found)), limit-len(found))
	return append(found, more...), end
}

// seen returns the numbers of the next events in the workspaces that the reader of a view sees. It
// returns at least limit numbers if there are enough events after the given number. Events in other
// workspaces add no cost.
func (x *index) seen(v View, number, limit int) (numbers []int) {
	for name, list := range x.workspaces {
		if v.Sees != nil && !v.Sees(name.Value()) {
			continue
		}
		from, _ := slices.BinarySearch(list, number+1)
		numbers = append(numbers, list[from:min(from+limit+1, len(list))]...)
	}
	slices.Sort(numbers)
	return numbers
}

// fitting returns the first of the given numbers, up to limit, whose events are in a view.
func (x *index) fitting(v View, numbers []int, limit int) (found []int, end bool) {
	for i, n := range numbers {
		if x.places[n-1].fits(v) {
			if found = append(found, n); len(found) == limit {
				return found, i == len(numbers)-1
			}
		}
	}
	return found, true
}
