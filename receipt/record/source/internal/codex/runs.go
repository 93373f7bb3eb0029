package codex

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// Runs are those of which the lines were read: from the one that names the thread, or from
// the first of a log, to the next such. A run that begins as another one did waits: it may
// be the same, told again by a copy of the log, or by one of an earlier time. As soon as it
// says something else it is told.
type runs struct {
	exec    *Exec                   // tells lines
	log     int                     // that is read
	known   map[beginning]struct{}  // of the runs that were told
	ends    map[beginning]condition // of those, the ones that are whole runs
	now     beginning               // of the run that is read
	waits   bool
	waiting []*line
}

// A beginning is some lines, the first, of a run: a digest of them all, half of one, which
// is enough to tell them from others. The zero beginning has none.
type beginning [sha256.Size / 2]byte

// after is the beginning with one line more.
func (b beginning) after(line canon.Digest) (next beginning) {
	sum := sha256.Sum256(append(b[:], line[:]...))
	copy(next[:], sum[:])
	return next
}

// A condition is the turn that a line is of, and the state of that.
type condition struct {
	turn  int
	state string
}

// lineCost is about what a line takes in known.
const lineCost = 40

// take tells a line, unless it waits.
func (r *runs) take(l *line) {
	if log := len(r.exec.s.Logs); l.kind == "thread.started" || r.log != log {
		r.settle()
		r.log, r.now, r.waits = log, beginning{}, true
	}
	if !r.waits {
		r.goOn(l)
		return
	}

	next := r.now.after(l.sum)
	if _, have := r.known[next]; have {
		r.now, r.waiting = next, append(r.waiting, l)
		return
	}

	// It has all lines of another and more of them, or else it is a run of its own.
	waiting := r.waiting
	if end, whole := r.ends[r.now]; whole {
		r.copied()
		r.exec.turn, r.exec.state = end.turn, end.state
	} else {
		r.now = beginning{}
		for _, w := range waiting {
			r.goOn(w)
		}
	}
	r.waiting, r.waits = nil, false
	r.goOn(l)
}

// goOn tells a line of the run that is read.
func (r *runs) goOn(l *line) {
	r.exec.tell(l)
	if r.known == nil {
		r.known, r.ends = map[beginning]struct{}{}, map[beginning]condition{}
	}

	delete(r.ends, r.now)
	r.now = r.now.after(l.sum)
	if _, have := r.known[r.now]; !have {
		r.known[r.now] = struct{}{}
		r.exec.s.Keep(lineCost)
	}
	r.ends[r.now] = condition{r.exec.turn, r.exec.state}
}

// settle ends a run. What waits yet was told by another one; a turn in it that has no end
// may be open, all the same.
func (r *runs) settle() {
	if len(r.waiting) == 0 {
		return
	}
	r.copied()
	open := false
	for _, l := range r.waiting {
		if strings.HasPrefix(l.kind, "turn.") {
			open = l.kind == "turn.started"
		}
	}
	if open {
		r.exec.state = "started"
	}
	r.waiting, r.waits = nil, false
}

// copied notes that the lines which wait are copies. A turn that tells what it took is known
// by that: the next one of its thread reads all of it again, and takes more. Without that
// the lines may be of a run that began in the same way, and was ended.
func (r *runs) copied() {
	r.exec.s.Note("runs_told_again")
	if !slices.ContainsFunc(r.waiting, func(l *line) bool { return l.took }) {
		r.exec.s.Lacks(story.PartMissing)
	}
}
