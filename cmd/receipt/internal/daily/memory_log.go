package daily

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// A keptLog is the result of surveying a log.
type keptLog struct {
	Of       identity
	Sighting source.Sighting
	Outline  *source.Outline   // without its lines
	Sums     map[string]string // SHA-256 of the lines of each task, keyed by the positions of the lines
}

// An identity determines whether a file has changed.
type identity struct {
	Size int64
	Time int64 // time of the last change, in nanoseconds
	Tail canon.Digest
}

// A remembered log is a log whose results are stored or will be stored. They are already stored if
// the log has not changed since an earlier run.
type remembered struct {
	path    string
	info    fs.FileInfo
	kept    *keptLog
	changed bool
}

// An outlined log is an outline with the identity of its log. It is stored in a separate file.
type outlined struct {
	Of      identity
	Outline *source.Outline
}

// tailBytes is the number of bytes at the end of a log that are compared.
const tailBytes = 4 << 10

// identify returns the absolute path and the identity of an open log.
func identify(p *place, f *os.File) (path string, id identity, info fs.FileInfo, err error) {
	if path, err = filepath.Abs(p.path); err != nil {
		return "", id, nil, err
	}
	if info, err = f.Stat(); err != nil {
		return "", id, nil, err
	}
	id.Size, id.Time = info.Size(), info.ModTime().UnixNano()

	tail := make([]byte, min(id.Size, tailBytes))

	// If a log is rewritten with the same size and time, its end usually differs.
	if _, err = f.ReadAt(tail, id.Size-int64(len(tail))); err != nil && err != io.EOF {
		return "", id, nil, err
	}
	id.Tail = canon.Sum(tail)
	return path, id, info, nil
}

// recall returns the stored results for a log, or nil if there are none or the file has changed.
func recall(m *memory, p *place) *remembered {
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

// outline returns the stored outline of a log, or nil if it is missing or damaged.
func (r *remembered) outline(m *memory) *source.Outline {
	var o outlined
	if !m.load(r.path, ".outline", &o) || o.Of != r.kept.Of || o.Outline == nil || !o.Outline.Sound() {
		return nil
	}
	return o.Outline
}

// learn stores the outline of a log that was surveyed. It returns nil if the log has changed in the
// meantime, or if nothing could be stored.
func learn(m *memory, s *sighted, in *plain, o *source.Outline) *remembered {
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

// sum returns the digest of the lines of a task, if it is stored.
func (r *remembered) sum(p *source.Part) (d canon.Digest, known bool) {
	if r == nil {
		return d, false
	}
	return d, copy(d[:], r.kept.Sums[placesOf(p)]) == len(d)
}

// note stores the digest of the lines of a task.
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

// placesOf returns a key that identifies the lines of a task in a log.
func placesOf(p *source.Part) string {
	sum := sha256.New()
	fmt.Fprint(sum, p.Aside, p.Spans)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
