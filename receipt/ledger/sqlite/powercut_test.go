package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/strace"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/ledger"
	"github.com/receiptkit/receiptkit/receipt/ledger/sqlite"
)

// TestPowerCut verifies that a ledger survives a power failure. In a run, a process creates a
// ledger, issues receipts, closes and reopens the ledger, issues more receipts, and prunes until
// SQLite checkpoints. Meanwhile, strace records the system calls on the ledger's files. The power
// is then cut before each of these calls, or before many of them, so that unsynced data is lost
// completely or in part. Each time, the ledger must have no faults, and must contain all
// acknowledged receipts and at most one other receipt.
func TestPowerCut(t *testing.T) {
	if testing.Short() {
		t.Skip("it opens a thousand ledgers")
	}
	step := testsize.Of(48, 8, 2)
	folder := t.TempDir()
	calls := traced(t, folder)
	random := rand.New(rand.NewPCG(1, 2))
	d := newDisk()
	seen := map[[32]byte]bool{}
	cuts, told := 0, []string(nil)
	pruned := slices.IndexFunc(calls, func(c call) bool { return c.name == "acknowledge" && strings.HasPrefix(string(c.data), "pruned") })
	var group sync.WaitGroup
	slots := make(chan struct{}, 8) // the goroutines mostly wait for the disk
	v, err := receipt.NewVerifier(nil, receipt.Policy{IntegrityOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range calls {
		if n < 60 || n > len(calls)-12 || n > pruned-30 && n <= pruned+1 || c.path == "ledger.db" && n%8 == 0 || c.name == "sync" && n%5 == 0 || n%150 == 0 {
			for k, keep := range choices(random) {
				if (n+k)%step != 0 { // the other choices are tested for the next calls
					continue
				}
				files := d.after(keep)
				if id := fingerprint(files, len(told)); !seen[id] {
					seen[id] = true
					cuts++
					slots <- struct{}{}
					told := slices.Clone(told)
					group.Go(func() {
						defer func() { <-slots }()
						survives(t, fmt.Sprintf("before call %d, %s %s: %s kept", n, c.name, c.path, keep.what), files, told, v)
					})
				}
			}
		}
		if c.name == "acknowledge" {
			told = append(told, strings.Fields(string(c.data))...)
		} else {
			d.apply(c)
		}
	}
	group.Wait()
	if t.Logf("%d calls, %d states", len(calls), cuts); cuts < 400/step || len(told) != 2*powerIssues+3 {
		t.Errorf("%d states, told %d words, expected more", cuts, len(told))
	}
}

// powerIssues is the number of receipts that the run issues, which makes SQLite checkpoint about
// once.
const powerIssues = 90

// powerPruned is the number of receipts that are pruned after half of the receipts have been
// issued.
const powerPruned = 30

// powerWorker performs the run that is traced. It prints a line when data is acknowledged as
// durable.
func powerWorker(path string) error {
	ctx := context.Background()
	l, err := sqlite.Create(ctx, path)
	if err != nil {
		return err
	}
	fmt.Println("created")
	for n := range powerIssues {
		if n == 3 {
			if err := l.Close(); err != nil {
				return err
			}
			if l, err = sqlite.Open(ctx, path); err != nil {
				return err
			}
		}
		s, err := (&ledger.Issuer{Store: l, KeepSecrets: true, Unsigned: true}).Issue(ctx, draft(fmt.Sprintf("p_%04d", n), "w"))
		if err != nil {
			return err
		}
		fmt.Println(s.ID(), s.Hash())
		if n == powerIssues/2 {
			fmt.Println("pruned", prune(panics{}, l, powerPruned))
		}
	}
	return l.Close()
}

// A call is a system call on a file in the directory, or an acknowledgment in the output.
type call struct {
	name   string // write, truncate, create, unlink, sync, sync directory, acknowledge
	path   string // path relative to the directory
	offset int64  // or size
	data   []byte
}

// traced runs powerWorker and returns the recorded calls.
func traced(t *testing.T, folder string) []call {
	t.Helper()
	tracer := strace.Path(t)
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(tracer, append(fewerStops(), "-f", "-qq", "-xx", "-s", "8192", "-o", log, "-e", "signal=none",
		"-e", "trace=open,openat,close,write,pwrite64,ftruncate,unlink,unlinkat,rename,renameat,renameat2,fsync,fdatasync", os.Args[0])...)
	cmd.Env = append(os.Environ(), "LEDGER_POWER="+filepath.Join(folder, "ledger.db"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := &parser{folder: folder, fds: map[string]string{"1": "stdout"}, unfinished: map[string]string{}}
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		if err := p.line(scanner.Text()); err != nil {
			t.Fatalf("%v: %.200s", err, scanner.Text())
		}
	}
	if err := scanner.Err(); err != nil {
		t.Fatal(err)
	}
	return p.calls
}

// A parser parses the output of "strace -f -xx".
type parser struct {
	folder     string
	fds        map[string]string // paths of the open files
	unfinished map[string]string // by process
	calls      []call
}

// ending matches the end of a call in the output of strace. An error message may follow the end.
var ending = regexp.MustCompile(`\)\s+= (-?\w+|\?)`)

func (p *parser) line(line string) error {
	pid, text, _ := strings.Cut(line, " ")
	text = strings.TrimSpace(text)
	if text == "???( <detached ...>" { // the thread ended before strace read its call
		return nil
	}
	if begin, ok := strings.CutSuffix(text, " <unfinished ...>"); ok {
		p.unfinished[pid] = begin
		return nil
	}
	if strings.HasPrefix(text, "<... ") {
		_, rest, _ := strings.Cut(text, " resumed>")
		text = p.unfinished[pid] + rest
	}
	name, text, _ := strings.Cut(text, "(")
	at := ending.FindStringSubmatchIndex(text) // strace prints strings as hexadecimal digits
	if at == nil {
		return errors.New("an unknown form")
	}
	text, result := text[:at[0]], text[at[2]:at[3]]
	if strings.HasPrefix(result, "-") {
		return nil // the call failed and had no effect
	}
	return p.call(name, strings.Split(text, ", "), result)
}

// call processes a call that succeeded.
func (p *parser) call(name string, args []string, result string) error {
	file := p.fds[args[0]]
	switch name {
	case "open", "openat":
		if name == "openat" {
			args = args[1:]
		}
		p.fds[result] = p.name(args[0])
		if strings.Contains(args[1], "O_CREAT") && p.fds[result] != "" {
			p.add(call{name: "create", path: p.fds[result]})
		}
	case "close":
		delete(p.fds, args[0])
	case "unlink", "unlinkat":
		if name == "unlinkat" {
			args = args[1:]
		}
		p.add(call{name: "unlink", path: p.name(args[0])})
	case "fsync", "fdatasync":
		p.add(call{name: map[bool]string{true: "sync folder", false: "sync"}[file == "."], path: file})
	case "ftruncate":
		size, err := strconv.ParseInt(args[1], 10, 64)
		p.add(call{name: "truncate", path: file, offset: size})
		return err
	case "write":
		if file == "stdout" {
			p.calls = append(p.calls, call{name: "acknowledge", data: unhex(args[1])})
		} else if file != "" {
			return errors.New("a write without an offset")
		}
	case "pwrite64":
		offset, err := strconv.ParseInt(args[3], 10, 64)
		data := unhex(args[1])
		if strconv.Itoa(len(data)) != result {
			return fmt.Errorf("%d bytes are in the log, %s were written", len(data), result)
		}
		p.add(call{"write", file, offset, data})
		return err
	default:
		return errors.New("a call that nobody expected")
	}
	return nil
}

// add records a call on a file in the directory. The index of the write-ahead log does not survive
// a restart, because SQLite recreates it.
func (p *parser) add(c call) {
	if c.path != "" && !strings.HasSuffix(c.path, "-shm") {
		p.calls = append(p.calls, c)
	}
}

// name returns the name of a file in the directory, or "." for the directory itself.
func (p *parser) name(quoted string) string {
	path, err := filepath.Rel(p.folder, string(unhex(quoted)))
	if err != nil || strings.HasPrefix(path, "..") {
		return ""
	}
	return path
}

func unhex(quoted string) []byte {
	data, err := hex.DecodeString(strings.ReplaceAll(strings.Trim(quoted, `"`), `\x`, ""))
	if err != nil {
		return nil
	}
	return data
}

// A disk contains the synced data and the data that is still pending.
type disk struct {
	names map[string]*inode // entries in the directory when it was last synced
	now   map[string]*inode
}

type inode struct {
	synced  []byte
	pending []call
}

func newDisk() *disk { return &disk{names: map[string]*inode{}, now: map[string]*inode{}} }

func (d *disk) apply(c call) {
	switch c.name {
	case "create":
		if d.now[c.path] == nil {
			d.now[c.path] = &inode{}
		}
	case "unlink":
		delete(d.now, c.path)
	case "sync folder":
		d.names = maps.Clone(d.now)
	case "sync":
		if f := d.now[c.path]; f != nil {
			f.synced, f.pending = f.content(func(int) int { return whole }), nil
		}
	default:
		if f := d.now[c.path]; f != nil { // otherwise, the file was removed
			f.pending = append(f.pending, c)
		}
	}
}

// These constants specify which part of an unsynced call is kept.
const (
	nothing = iota
	whole
	torn // only the first half of the written data
)

// content returns the content of the file, including the parts of pending calls that are kept.
func (f *inode) content(keep func(n int) int) []byte {
	data := bytes.Clone(f.synced)
	for n, c := range f.pending {
		part := keep(n)
		if part == nothing {
			continue
		}
		end := c.offset
		if c.name == "write" {
			if part == torn {
				c.data = c.data[:len(c.data)/2]
			}
			end += int64(len(c.data))
		}
		if int64(len(data)) < end {
			data = append(data, make([]byte, end-int64(len(data)))...)
		}
		if c.name == "truncate" {
			data = data[:c.offset]
		}
		copy(data[c.offset:], c.data)
	}
	return data
}

// A choice specifies which pending data is kept after the power is cut.
type choice struct {
	what  string
	names bool                             // whether creations and removals that were not synced are kept
	part  func(path string, n, of int) int // returns which part of the nth pending call on a file is kept
}

func choices(random *rand.Rand) []choice {
	when := func(kept bool, part int) int {
		if kept {
			return part
		}
		return nothing
	}
	return []choice{
		{"nothing", false, func(string, int, int) int { return nothing }},
		{"all", true, func(string, int, int) int { return whole }},
		{"all but names", false, func(string, int, int) int { return whole }},
		{"the last write", true, func(_ string, n, of int) int { return when(n == of-1, whole) }},
		{"half of the last write", true, func(_ string, n, of int) int { return when(n == of-1, torn) }},
		{"all but half of a write", true, func(_ string, n, of int) int { return whole + when(n == of-1, torn-whole) }},
		{"a half", random.IntN(2) == 0, func(string, int, int) int { return when(random.IntN(2) == 0, whole) }},
		{"pieces", true, func(string, int, int) int { return random.IntN(3) }},
		{"the file alone", true, func(path string, _, _ int) int { return when(path == "ledger.db", whole) }},
		{"the log alone", true, func(path string, _, _ int) int { return when(path != "ledger.db", whole) }},
	}
}

// after returns the files in the state that they have when the power is restored.
func (d *disk) after(c choice) map[string][]byte {
	names := d.names
	if c.names {
		names = d.now
	}
	files := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := names[name]
		files[name] = f.content(func(n int) int { return c.part(name, n, len(f.pending)) })
	}
	return files
}

func fingerprint(files map[string][]byte, told int) [32]byte {
	h := sha256.New()
	fmt.Fprintln(h, told)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintln(h, name, len(files[name]))
		h.Write(files[name])
	}
	return [32]byte(h.Sum(nil))
}

// survives checks that a ledger can be opened and is intact in the state after a power cut.
func survives(t *testing.T, what string, files map[string][]byte, told []string, v *receipt.Verifier) {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	l, err := sqlite.Open(ctx, filepath.Join(dir, "ledger.db"))
	if errors.Is(err, fs.ErrNotExist) && len(told) == 0 {
		return // the creation of the ledger had not been acknowledged
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	defer l.Close()
	checked, err := ledger.Check(ctx, l, v, func(f ledger.Fault) { t.Errorf("%s: %+v", what, f) }, nil)
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	var there []string
	for e, err := range l.Walk(ctx, ledger.Query{Pruned: true}, 0) {
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		there = append(there, e.ID, e.Hash.String())
	}
	// Either all of these receipts or none of them must be pruned. After the pruning was
	// acknowledged, all of them must be pruned.
	at := slices.Index(told, "pruned")
	if checked.Pruned != powerPruned && (at >= 0 || checked.Pruned != 0) {
		t.Errorf("%s: %d receipts are pruned", what, checked.Pruned)
	}
	if at >= 0 {
		told = slices.Delete(slices.Clone(told), at, at+2)
	}

	acknowledged := len(told) / 2 // the first word of the output is "created"
	receipts := checked.Receipts + checked.Pruned
	if receipts < acknowledged || receipts > acknowledged+1 || len(there) < 2*acknowledged || len(told) > 0 && !slices.Equal(there[:2*acknowledged], told[1:]) {
		t.Errorf("%s: %d receipts, %d were acknowledged", what, receipts, acknowledged)
	}
}
