package codex

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// runs contains the runs whose lines have been read. A run extends from the line that names the
// thread, or from the first line of a log, to the next such line. Lines of a run are held back
// while they match the beginning of another run, because the run may be a copy. The lines are
// recorded as soon as one of them differs.
type runs struct {
	exec    *Exec                   // that records lines
	log     int                     // the number of the current log
	known   map[beginning]struct{}  // beginnings of the runs that were recorded
	ends    map[beginning]condition // the final condition of each run that was recorded completely
	now     beginning               // digest of the lines of the current run
	waits   bool
	waiting []*line
}

// A beginning identifies the first lines of a run by half of a digest of these lines, which is
// sufficient to distinguish them. The zero beginning stands for no lines.
type beginning [sha256.Size / 2]byte

// after returns the beginning that consists of b and one more line.
func (b beginning) after(line canon.Digest) (next beginning) {
	sum := sha256.Sum256(append(b[:], line[:]...))
	copy(next[:], sum[:])
	return next
}

// A condition is a turn and its state after a line.
type condition struct {
	turn  int
	state string
}

// lineCost is the approximate size of a line in known, in bytes.
const lineCost = 40

// take records a line unless it must be held back.
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

	// A run that contains all lines of another run continues that run. Any other run is separate.
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

// goOn records a line of the current run.
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

// settle ends a run. Lines that are still held back are copies, but if they end in an open turn,
// the task may still be open.
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

// copied records that the lines held back are copies. If a turn in these lines contains its usage,
// the lines cannot belong to another run, because the next turn of a thread reads everything again
// and therefore uses more tokens. If they contain no usage, the lines may belong to another run
// that began in the same way and was interrupted.
func (r *runs) copied() {
	r.exec.s.Note("runs_told_again")
	if !slices.ContainsFunc(r.waiting, func(l *line) bool { return l.took }) {
		r.exec.s.Lacks(story.PartMissing)
	}
}
