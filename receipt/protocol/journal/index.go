package journal

import (
	"slices"
	"strconv"
	"strings"
	"unique"

	"github.com/receiptkit/receiptkit/canon"
)

// A place is where an event is, and what it is of.
type place struct {
	at                       int64 // in the file
	size                     int
	kind                     unique.Handle[string]
	workspace, session, task unique.Handle[string]
}

// An index finds events in the file. Numbers of events count from 1.
type index struct {
	places []place
	of     map[unique.Handle[string]][]int // the numbers of the events of a task, a session or a workspace
	last   map[Pointer]last                // of each resource
}

func newIndex() *index {
	return &index{of: map[unique.Handle[string]][]int{}, last: map[Pointer]last{}}
}

// add notes the events of a commit, whose line begins at a place of the file.
func (x *index) add(c *Commit, doc *canon.Document, at int64) {
	for i, text := range doc.Root().Member("events").Elements() {
		e := &c.Events[i]
		p := place{at + int64(text.Offset()), len(text.Raw()), unique.Make(e.Kind), unique.Make(e.Workspace), unique.Make(e.Session), unique.Make(e.Task)}
		x.places = append(x.places, p)
		for _, name := range []unique.Handle[string]{p.workspace, p.session, p.task} {
			list := x.of[name]
			if name.Value() != "" && (len(list) == 0 || list[len(list)-1] != len(x.places)) { // one of two names alike
				x.of[name] = append(list, len(x.places))
			}
		}
		x.last[e.Resource] = last{e.ID, e.Sequence}
	}
}

// idOf is the id of the event of a number.
func idOf(number int) string { return "event_" + strconv.Itoa(number) }

// numberOf is the number of an event by its id, spelled as it is there.
func numberOf(id string) (int, bool) {
	digits, ok := strings.CutPrefix(id, "event_")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && idOf(n) == id
}

// among returns the numbers of what may be in a view, nil for those of all events.
func (x *index) among(v View) (numbers []int, all bool) {
	for _, name := range []string{v.Task, v.Session, v.Workspace} {
		if name != "" {
			return x.of[unique.Make(name)], false
		}
	}
	return nil, true
}

// fits reports whether an event is in a view.
func (p *place) fits(v View) bool {
	for _, pair := range [][2]string{{v.Task, p.task.Value()}, {v.Session, p.session.Value()}, {v.Workspace, p.workspace.Value()}} {
		if pair[0] != "" && pair[0] != pair[1] {
			return false
		}
	}
	return v.Sees == nil || v.Sees(p.workspace.Value())
}

// after returns the numbers of up to limit events of a view behind a number, and whether they
// are the last that there are.
func (x *index) after(v View, number, limit int) (found []int, end bool) {
	numbers, all := x.among(v)
	if all {
		for n := number + 1; n <= len(x.places); n++ {
			if x.places[n-1].fits(v) {
				if found = append(found, n); len(found) == limit {
					return found, n == len(x.places)
				}
			}
		}
		return found, true
	}

	from, _ := slices.BinarySearch(numbers, number+1)
	for i := from; i < len(numbers); i++ {
		if x.places[numbers[i]-1].fits(v) {
			if found = append(found, numbers[i]); len(found) == limit {
				return found, i == len(numbers)-1
			}
		}
	}
	return found, true
}
