package daily

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// A memory keeps, next to the ledger, the results of surveys, so that the next run can skip
// logs that did not change. It may be deleted at any time.
//
// An index has everything that a run without new lines needs, because reading many small files
// takes longer than one. Outlines are larger, so each has a file of its own.
type memory struct {
	dir  string // "" keeps nothing
	only bool   // nothing is written
	was  *index // of earlier runs
	now  *index // of this run: what is new
}

// An index lists logs by their absolute paths, groups of related logs by their first path, and
// receipts by the IDs of their tasks' first receipts.
type index struct {
	Tool     string // that wrote it: another version may read logs differently
	Logs     map[string]*keptLog
	Groups   map[string]*keptGroup
	State    string // of the ledger, when it had the receipts
	Receipts map[string]*keptReceipt
}

// A keptReceipt is the latest receipt of a task.
type keptReceipt struct {
	Of       string // the digests of the logs, as logsOf returns them
	ID, Hash string
	Signed   bool
}

// A keptLog is the result of the survey of a log.
type keptLog struct {
	Of       identity
	Sighting source.Sighting
	Outline  *source.Outline   // without its lines
	Sums     map[string]string // SHA-256 of the lines of tasks, by the positions of the lines
}

// A keptGroup has the tasks of related logs.
type keptGroup struct {
	Of    string // identifies the logs
	Tasks []*keptTask
}

// A keptTask is a task, whose parts have the numbers of their logs in the group.
type keptTask struct {
	*source.Task
	Logs []int
}

// An identity determines whether a file changed.
type identity struct {
	Size int64
	Time int64 // of the last change, in nanoseconds
	Tail canon.Digest
}

// A remembered log is unchanged since an earlier run, or will be remembered.
type remembered struct {
	path    string
	info    fs.FileInfo
	kept    *keptLog
	changed bool
}

// An outlined log is stored separately.
type outlined struct {
	Of      identity
	Outline *source.Outline
}

// tailBytes is the number of bytes at the end of a log that are compared.
const tailBytes = 4 << 10

// memoryOf returns the memory of a ledger, which is next to its file. Other ledgers have none.
func memoryOf(o *Options) memory {
	path, file := input.LedgerFile(o.Ledger)
	if path == "" || !file {
		return memory{}
	}
	m := memory{dir: path + "-logs", only: o.Look, now: newIndex()}
	m.was = m.index()
	return m
}

func newIndex() *index {
	return &index{Tool: "4 " + cli.ToolVersion(), Logs: map[string]*keptLog{}, Groups: map[string]*keptGroup{}, Receipts: map[string]*keptReceipt{}}
}

// index reads the index. It is empty if it is missing, damaged, or of another version.
func (m *memory) index() *index {
	i := newIndex()
	var kept index
	if m.load("index", "", &kept) && kept.Tool == i.Tool {
		maps.Copy(i.Logs, kept.Logs)
		maps.Copy(i.Groups, kept.Groups)
		maps.Copy(i.Receipts, kept.Receipts)
		i.State = kept.State
	}
	return i
}

// identify returns the identity of a log that is open, and its absolute path.
func identify(p *place, f *os.File) (path string, id identity, info fs.FileInfo, err error) {
	if path, err = filepath.Abs(p.path); err != nil {
		return "", id, nil, err
	}
	if info, err = f.Stat(); err != nil {
		return "", id, nil, err
	}
	id.Size, id.Time = info.Size(), info.ModTime().UnixNano()

	tail := make([]byte, min(id.Size, tailBytes))

	// A log that is rewritten with the same size and time usually has another end.
	if _, err = f.ReadAt(tail, id.Size-int64(len(tail))); err != nil && err != io.EOF {
		return "", id, nil, err
	}
	id.Tail = canon.Sum(tail)
	return path, id, info, nil
}

// recall returns the memory of a log; nil if there is nothing, or the file changed.
func (m *memory) recall(p *place) *remembered {
	if m.dir == "" || len(m.was.Logs) == 0 {
		return nil
	}
	f, err := p.open()
	if err != nil {
		return nil
	}
	defer f.Close()
	path, id, info, err := identify(p, f)
	if err != nil {
		return nil
	}
	l := m.was.Logs[path]
	if l == nil || l.Outline == nil || l.Of != id {
		return nil
	}
	return &remembered{path: path, info: info, kept: l}
}

// outline returns the outline of a remembered log; nil if it is missing or damaged.
func (m *memory) outline(r *remembered) *source.Outline {
	var o outlined
	if !m.load(r.path, ".outline", &o) || o.Of != r.kept.Of || o.Outline == nil || !o.Outline.Sound() {
		return nil
	}
	return o.Outline
}

// learn stores the outline of a log that was surveyed. It returns nil if the log changed in the
// meantime, or if nothing is stored.
func (m *memory) learn(s *sighted, in *plain, o *source.Outline) *remembered {
	if m.dir == "" || m.only {
		return nil
	}
	path, id, info, err := identify(s.place, in.opened)
	if err != nil || info.Size() != in.info.Size() || !info.ModTime().Equal(in.info.ModTime()) {
		return nil
	}
	if !m.save(path, ".outline", &outlined{id, o}) {
		return nil
	}
	short := *o
	short.Forget()
	return &remembered{path, info, &keptLog{Of: id, Sighting: s.Sighting, Outline: &short}, true}
}

// group identifies related logs; "" if one of them is not remembered.
func (m *memory) group(logs []*logFile, apart bool) (first, of string) {
	sum := sha256.New()
	fmt.Fprintln(sum, apart)
	for _, l := range logs {
		if l.memory == nil {
			return "", ""
		}
		fmt.Fprintf(sum, "%q %v\n", l.memory.path, l.memory.kept.Of)
		first = cmp.Or(first, l.memory.path)
	}
	return first, string(sum.Sum(nil))
}

// tasks returns the tasks of related logs, if they are remembered.
func (m *memory) tasks(logs []*logFile, apart bool) (works []*work, known bool) {
	first, of := m.group(logs, apart)
	if first == "" || m.was.Groups[first] == nil || m.was.Groups[first].Of != of {
		return nil, false
	}
	for _, t := range m.was.Groups[first].Tasks {
		w := &work{Task: t.Task}
		for i, n := range t.Logs {
			if n >= len(logs) || i >= len(t.Parts) {
				return nil, false
			}
			w.files = append(w.files, logs[n])
			w.Parts[i].Log = logs[n].outline
		}
		works = append(works, w)
	}
	return works, true
}

// learnTasks remembers the tasks of related logs.
func (m *memory) learnTasks(logs []*logFile, works []*work, apart bool) {
	first, of := m.group(logs, apart)
	if first == "" || m.only {
		return
	}
	g := &keptGroup{Of: of}
	for _, w := range works {
		t := &keptTask{Task: new(*w.Task)}
		t.Parts = slices.Clone(t.Parts)
		for i, f := range w.files {
			t.Parts[i].Log = nil
			t.Logs = append(t.Logs, slices.Index(logs, f))
		}
		g.Tasks = append(g.Tasks, t)
	}
	m.now.Groups[first] = g
}

// receipts returns the receipts that the ledger has in a state. Heads of streams determine every
// receipt in them, so a ledger with the same heads has the same receipts.
func (m *memory) receipts(state string) map[string]*keptReceipt {
	if m.dir == "" || state == "" || m.was.State != state {
		return map[string]*keptReceipt{}
	}
	return m.was.Receipts
}

// keep stores what this run found out about logs, and the receipts that the ledger now has.
func (m *memory) keep(logs []*logFile, state string, receipts map[string]*keptReceipt) {
	if m.dir == "" || m.only {
		return
	}
	for _, l := range logs {
		if l.memory != nil && l.memory.changed {
			m.now.Logs[l.memory.path] = l.memory.kept
		}
	}
	if len(m.now.Logs)+len(m.now.Groups) == 0 && m.was.State == state && maps.EqualFunc(m.was.Receipts, receipts, func(a, b *keptReceipt) bool { return *a == *b }) {
		return
	}

	// Another run may have added to the index.
	all := m.index()
	maps.Copy(all.Logs, m.now.Logs)
	maps.Copy(all.Groups, m.now.Groups)
	all.State, all.Receipts = state, receipts
	m.save("index", "", all)
}

// file returns the path of a file that stores something about a log.
func (m *memory) file(path, suffix string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(m.dir, hex.EncodeToString(sum[:16])+suffix)
}

// load reads a value, and reports whether it is present and complete.
func (m *memory) load(path, suffix string, v any) bool {
	text, err := os.ReadFile(m.file(path, suffix))
	if err != nil || len(text) < sha256.Size {
		return false
	}
	body, stated := text[:len(text)-sha256.Size], text[len(text)-sha256.Size:]
	sum := sha256.Sum256(body)
	return bytes.Equal(sum[:], stated) && gob.NewDecoder(bytes.NewReader(body)).Decode(v) == nil
}

// save writes a value. If it fails, the next run reads the log again.
func (m *memory) save(path, suffix string, v any) bool {
	var b bytes.Buffer
	if gob.NewEncoder(&b).Encode(v) != nil || os.MkdirAll(m.dir, 0o700) != nil {
		return false
	}
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:])

	return cli.ReplaceFile(m.file(path, suffix), b.Bytes(), 0o600) == nil
}

// placesOf identifies the lines of a task in a log.
func placesOf(p *source.Part) string {
	sum := sha256.New()
	fmt.Fprint(sum, p.Aside, p.Spans)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// sum returns the digest of the lines of a task, if it is remembered.
func (r *remembered) sum(p *source.Part) (d canon.Digest, known bool) {
	if r == nil {
		return d, false
	}
	return d, copy(d[:], r.kept.Sums[placesOf(p)]) == len(d)
}

// note remembers the digest of the lines of a task.
func (r *remembered) note(p *source.Part, d canon.Digest) {
	if r == nil {
		return
	}
	if at := placesOf(p); r.kept.Sums[at] != string(d[:]) {
		if r.kept.Sums == nil {
			r.kept.Sums = map[string]string{}
		}
		r.kept.Sums[at], r.changed = string(d[:]), true
	}
}
