package daily

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// A memory keeps, next to the ledger, the results of surveys, so that the next run can skip
// logs that did not change. It may be deleted at any time.
type memory struct {
	dir  string // "" keeps nothing
	only bool   // nothing is written
}

// An identity determines whether a file changed.
type identity struct {
	Tool string // that wrote this: another version may read logs differently
	Path string
	Size int64
	Time int64 // of the last change, in nanoseconds
	Tail canon.Digest
}

// A remembered log is unchanged since an earlier run, or will be remembered.
type remembered struct {
	identity
	info    fs.FileInfo
	sums    map[string]canon.Digest // of the lines of tasks, by the positions of the lines
	changed bool                    // sums were added
}

// A sight is a stored source.Sighting.
type sight struct {
	Of       identity
	Sighting source.Sighting
}

// An outlined log is stored separately, because its outline is needed only for one group of
// logs at a time.
type outlined struct {
	Of      identity
	Outline *source.Outline
}

// sums are stored separately, because outlines are larger and are written once.
type sums struct {
	Of   identity
	Sums map[string]canon.Digest
}

// tailBytes is the number of bytes at the end of a log that are compared.
const tailBytes = 4 << 10

// memoryOf returns the memory of a ledger, which is next to its file. Other ledgers have none.
func memoryOf(o *Options) memory {
	path, file := input.LedgerFile(o.Ledger)
	if path == "" || !file {
		return memory{}
	}
	return memory{dir: path + "-logs", only: o.Look}
}

// identify returns the identity of a log that is open.
func identify(p *place, f *os.File) (id identity, info fs.FileInfo, err error) {
	if id.Path, err = filepath.Abs(p.path); err != nil {
		return id, nil, err
	}
	if info, err = f.Stat(); err != nil {
		return id, nil, err
	}
	id.Tool, id.Size, id.Time = "3 "+cli.ToolVersion(), info.Size(), info.ModTime().UnixNano()

	tail := make([]byte, min(id.Size, tailBytes))

	// A log that is rewritten with the same size and time usually has another end.
	if _, err = f.ReadAt(tail, id.Size-int64(len(tail))); err != nil && err != io.EOF {
		return id, nil, err
	}
	id.Tail = canon.Sum(tail)
	return id, info, nil
}

// recall returns the memory of a log; nil if there is nothing, or the file changed.
func (m *memory) recall(p *place) (*remembered, *sight) {
	if m.dir == "" {
		return nil, nil
	}
	f, err := p.open()
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	id, info, err := identify(p, f)
	if err != nil {
		return nil, nil
	}

	var s sight
	if !m.load(id.Path, ".log", &s) || s.Of != id {
		return nil, nil
	}
	r := &remembered{identity: id, info: info}

	// Without digests, the lines of tasks are read again.
	if of := (sums{}); m.load(id.Path, ".sums", &of) && of.Of == id {
		r.sums = of.Sums
	}

	return r, &s
}

// outline returns the outline of a remembered log; nil if it is missing or damaged.
func (m *memory) outline(id identity) *source.Outline {
	var o outlined
	if !m.load(id.Path, ".outline", &o) || o.Of != id || o.Outline == nil || !o.Outline.Sound() {
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
	id, info, err := identify(s.place, in.opened)
	if err != nil || info.Size() != in.info.Size() || !info.ModTime().Equal(in.info.ModTime()) {
		return nil
	}
	if !m.save(id.Path, ".outline", &outlined{id, o}) || !m.save(id.Path, ".log", &sight{id, s.Sighting}) {
		return nil
	}
	return &remembered{identity: id, info: info}
}

// keep stores the digests of the lines of tasks.
func (m *memory) keep(r *remembered) {
	if r != nil && r.changed && !m.only {
		m.save(r.Path, ".sums", &sums{r.identity, r.sums})
	}
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
	if r != nil {
		d, known = r.sums[placesOf(p)]
	}
	return d, known
}

// note remembers the digest of the lines of a task.
func (r *remembered) note(p *source.Part, d canon.Digest) {
	if r == nil {
		return
	}
	if r.sums == nil {
		r.sums = map[string]canon.Digest{}
	}
	if at := placesOf(p); r.sums[at] != d {
		r.sums[at], r.changed = d, true
	}
}
