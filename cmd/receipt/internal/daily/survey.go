package daily

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/internal/kind"
	"github.com/receiptkit/receiptkit/receipt/record"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// A sighted file is a file that was recognized as a log by its first bytes.
type sighted struct {
	*place
	source.Sighting
	events bool // a log of the protocol's events, not an agent's log
	size   int64
	memory *remembered // results of an earlier run
}

// Numbers of bytes of a file that are examined on the first and on the second attempt. Most logs
// are recognized by their first lines.
const (
	firstLook  = 64 << 10
	secondLook = 4 << 20
)

// A surveyor finds the tasks in logs.
type surveyor struct {
	*opener
	options *Options
	result  *result
	memory  memory
	works   []*work
	logs    []*logFile
}

// survey finds the tasks in files.
func (v *surveyor) survey(places []*place) {
	list := v.sight(places)
	size := int64(0)
	for _, s := range list {
		size += s.size
	}
	v.progress.Pass(1, size, 0)
	for _, group := range related(list) {
		v.group(group)
	}
}

// sight recognizes logs, and reports files that are not logs.
func (v *surveyor) sight(places []*place) (list []*sighted) {
	for _, p := range places {
		if v.ctx.Err() != nil {
			return nil
		}
		s, what, err := v.look(p)

		// A file that the user named is expected to be a log. Other files in a directory are
		// skipped.
		switch {
		case err != nil:
			v.unreadable(p, err)
		case s != nil:
			list = append(list, s)
		case p.named:
			v.result.file(unreadable, p.path, what)
		case what == errUnknown && isAside(p.path):
		default:
			v.result.file(skipped, p.path, what)
		}
	}

	return list
}

// isAside reports whether a file that is not a log is known to state no action. Such files are
// agent-ID.meta.json, which Claude Code stores next to the log of a subagent, and the index of
// Copilot CLI's snapshots.
func isAside(path string) bool {
	if dir, name := filepath.Split(path); name == "index.json" {
		return filepath.Base(dir) == "rewind-file-snapshots"
	}
	name, ok := strings.CutSuffix(path, ".meta.json")
	_, err := os.Stat(name + ".jsonl")
	return ok && err == nil && strings.HasPrefix(filepath.Base(name), "agent-")
}

// unreadable reports why a file was not read, unless the run was interrupted.
func (v *surveyor) unreadable(p *place, err error) {
	if !errors.Is(err, errInterrupted) {
		v.result.file(unreadable, p.path, err)
	}
}

// look examines one file. If the file is not a log, the error what describes the file instead.
func (v *surveyor) look(p *place) (s *sighted, what, err error) {
	if r := recall(&v.memory, p); r != nil && (v.options.From == "" || source.IsOf(r.kept.Sighting.Kind, v.options.From)) {
		return &sighted{place: p, Sighting: r.kept.Sighting, memory: r}, nil, nil
	}

	// Most logs are recognized by a short beginning. If the beginning is not sufficient, more text
	// is read.
	for _, most := range []int64{firstLook, secondLook} {
		in, err := v.read(p)
		if err != nil {
			return nil, nil, err
		}
		head, err := io.ReadAll(io.LimitReader(in.Reader, most))
		in.done()
		if err != nil {
			return nil, nil, err
		}

		s = &sighted{place: p, Sighting: source.Sight(head), size: in.info.Size()}
		if v.options.From != "" && !source.IsOf(s.Kind, v.options.From) {
			s.Sighting = source.Sighting{}
		}
		if s.Kind != source.Unknown {
			return s, nil, nil
		}

		// For other kinds of files, the error what describes the kind.
		whole := int64(len(head)) < most
		f := kind.Of(head, whole)
		switch {
		case f.Kind == kind.Events && v.options.From == "":
			s.events = true
			return s, nil, nil
		case f.Kind == kind.Frames:
			return nil, errFrames, nil
		case len(head) == 0:
			return nil, errEmpty, nil
		case !whole && most < secondLook:
			continue
		case f.Kind != kind.Unknown && f.Kind != kind.Transcript:
			return nil, errors.New("it is " + f.What), nil
		case input.KindOf(head).Kind != kind.Unknown:
			return nil, errors.New("it is " + input.KindOf(head).What), nil
		}
	}

	return nil, errUnknown, nil
}

var (
	errEmpty   = errors.New("it is empty")
	errUnknown = errors.New("not a known log format")
	errFrames  = errors.New("frames of a bridge do not name a task: record them separately, with --frames and --task ID")
)

// related groups logs that may contain each other's lines. These are transcripts in the same
// directory, logs of the same session, and logs of a session and its fork.
func related(list []*sighted) (groups [][]*sighted) {
	parent := make([]int, len(list))
	root := func(n int) int {
		for parent[n] != n {
			parent[n] = parent[parent[n]]
			n = parent[n]
		}
		return n
	}

	// Logs that share a name belong to the same group.
	first := map[string]int{}
	for n, s := range list {
		parent[n] = n
		for _, name := range s.names() {
			if at, have := first[name]; have {
				parent[root(n)] = root(at)
			} else {
				first[name] = n
			}
		}
	}

	at := map[int]int{}
	for n, s := range list {
		g, have := at[root(n)]
		if !have {
			g = len(groups)
			at[root(n)] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], s)
	}

	return groups
}

// names returns names that identify groups of logs. Logs that may contain each other's lines share
// a name.
func (s *sighted) names() (names []string) {
	if s.events {
		return nil
	}

	switch s.Kind {
	case source.ClaudeTranscript:
		names = append(names, "folder "+projectOf(s.path), "name "+s.base())
	case source.CodexRollout:
	// The session of such a log is known only after the entire log has been read, but the outlines
	// of these logs are small.
	default:
		names = append(names, "kind "+string(s.Kind))
	}

	for _, id := range []string{s.Session, s.Parent} {
		if id != "" {
			names = append(names, string(s.Kind)+" "+id)
		}
	}

	return names
}

// projectOf returns the directory of a session. The logs of its agents are in
// DIR/SESSION/subagents.
func projectOf(path string) string {
	dir := filepath.Dir(path)
	if filepath.Base(dir) == "subagents" {
		return filepath.Dir(filepath.Dir(dir))
	}
	return dir
}

// group finds the tasks of related logs. Only the outlines of one group are in memory at the same
// time.
func (v *surveyor) group(group []*sighted) {
	group = slices.DeleteFunc(group, func(s *sighted) bool {
		if s.events {
			v.eventLog(s)
		}
		return s.events
	})

	// If no log in the group has changed, its tasks are known.
	if !slices.ContainsFunc(group, func(s *sighted) bool { return s.memory == nil }) {
		logs, copies := v.distinct(group, func(s *sighted) (*logFile, error) {
			return &logFile{s.place, s.memory.info, s.memory.kept.Outline, s.memory}, nil
		})
		if works, known := recallTasks(&v.memory, logs, v.options.Apart); known {
			v.found(works, logs, copies)
			return
		}
	}

	logs, copies := v.distinct(group, v.outline)
	var outlines []*source.Outline
	files := map[*source.Outline]*logFile{}
	for _, l := range logs {
		outlines = append(outlines, l.outline)
		files[l.outline] = l
	}

	var works []*work
	for _, t := range source.Tasks(outlines, v.options.Apart) {
		w := &work{Task: t}
		for _, part := range t.Parts {
			w.files = append(w.files, files[part.Log])
		}
		works = append(works, w)
	}
	learnTasks(&v.memory, logs, works, v.options.Apart)
	v.found(works, logs, copies)

	// The lines of outlines are no longer needed once the tasks are known.
	for _, o := range outlines {
		o.Forget()
	}
}

// found adds the tasks and the logs of a group.
func (v *surveyor) found(works []*work, logs []*logFile, copies [][2]string) {
	v.works, v.logs = append(v.works, works...), append(v.logs, logs...)
	for _, c := range copies {
		v.result.file(copied, c[0], fmt.Errorf("the same as %q", c[1]))
	}
}

// distinct opens the logs of a group. It also returns copies, which contains the path of each log
// that has the same bytes as another log, together with the path of that other log.
func (v *surveyor) distinct(group []*sighted, open func(*sighted) (*logFile, error)) (logs []*logFile, copies [][2]string) {
	same := map[canon.Digest]string{}
	for _, s := range group {
		l, err := open(s)
		if err != nil {
			v.unreadable(s.place, err)
			continue
		}
		if of, have := same[l.outline.Digest]; have {
			copies = append(copies, [2]string{s.path, of})
			continue
		}
		same[l.outline.Digest] = s.path
		logs = append(logs, l)
	}
	return logs, copies
}

// outline surveys one log.
func (v *surveyor) outline(s *sighted) (*logFile, error) {
	if s.memory != nil {
		if o := s.memory.outline(&v.memory); o != nil {
			return &logFile{place: s.place, info: s.memory.info, outline: o, memory: s.memory}, nil
		}
	}
	in, err := v.read(s.place)
	if err != nil {
		return nil, err
	}
	defer in.done()
	o, err := source.Survey(source.Input{Name: s.base(), Reader: in.Reader}, string(s.Kind))
	if err != nil {
		return nil, err
	}

	return &logFile{place: s.place, info: in.info, outline: o, memory: learn(&v.memory, s, in, o)}, nil
}

// eventLog finds the tasks in a log of the protocol's events.
func (v *surveyor) eventLog(s *sighted) {
	in, err := v.read(s.place)
	if err != nil {
		v.unreadable(s.place, err)
		return
	}
	defer in.done()

	ids, err := record.Tasks(in.Reader)
	if err != nil {
		v.unreadable(s.place, err)
		return
	}
	if len(ids) == 0 {
		v.result.file(unreadable, s.path, errors.New("no event names a task"))
	}

	for _, id := range ids {
		v.works = append(v.works, &work{Task: &source.Task{ID: id}, events: true, files: []*logFile{{place: s.place, info: in.info}}})
	}
}
