package daily

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/cmd/receipt/internal/input"
)

// A memory stores the results of surveys next to the ledger, so that the next run can skip logs
// that have not changed. It may be deleted at any time.
//
// An index contains everything that is needed by a run without new lines, because reading many
// small files takes longer than reading one file. Outlines are larger, so each outline has its own
// file.
type memory struct {
	dir  string // "" keeps nothing
	only bool   // nothing is written
	was  *index // of earlier runs
	now  *index // new results of the current run
}

// An index maps the absolute paths of logs to the results of surveying these logs. It maps the path
// of the first log in a group of related logs to the group. It also maps the ID of a task's first
// receipt to the task's latest receipt.
type index struct {
	Tool     string // version of the program that wrote the index, because other versions may read logs differently
	Logs     map[string]*keptLog
	Groups   map[string]*keptGroup
	State    string // heads of the ledger when it contained these receipts
	Receipts map[string]*keptReceipt
}

// A keptReceipt is the latest receipt of a task.
type keptReceipt struct {
	Of       string // digests of the logs, as returned by logsOf
	ID, Hash string
	Signed   bool
}

// memoryOf returns the memory of a ledger. The memory is next to the ledger's file. A ledger that
// is not a file has no memory.
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

// index reads the index. If the file is missing, damaged, or from another version, the index is
// empty.
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

// receipts returns the receipts that the ledger contains in the given state. The heads of streams
// determine all receipts in them, so a ledger with the same heads contains the same receipts.
func (m *memory) receipts(state string) map[string]*keptReceipt {
	if m.dir == "" || state == "" || m.was.State != state {
		return map[string]*keptReceipt{}
	}
	return m.was.Receipts
}

// keep stores the results of this run about logs, and the receipts that the ledger now contains.
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

	// Another run may have changed the index in the meantime.
	all := m.index()
	maps.Copy(all.Logs, m.now.Logs)
	maps.Copy(all.Groups, m.now.Groups)
	all.State, all.Receipts = state, receipts
	m.save("index", "", all)
}

// file returns the path of a file that stores data about a log.
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
