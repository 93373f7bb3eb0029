package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// A pseudoterminal is a terminal whose output the test reads.
type pseudoterminal struct {
	user *os.File // the user's side
	mine *os.File // the program's side

	mu   sync.Mutex
	text []byte // everything that the program wrote to the terminal
	done chan struct{}
}

// Requests of ioctl_tty(2).
const (
	ptyNumber = 0x80045430
	ptyLock   = 0x40045431
	ptySize   = syscall.TIOCSWINSZ
)

// newTerminal opens a pseudoterminal with the given number of columns.
func newTerminal(t *testing.T, columns uint16) *pseudoterminal {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	number, unlock, size := int32(0), int32(0), [4]uint16{24, columns}
	for request, argument := range map[uintptr]unsafe.Pointer{ptyNumber: unsafe.Pointer(&number), ptyLock: unsafe.Pointer(&unlock), ptySize: unsafe.Pointer(&size)} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, user.Fd(), request, uintptr(argument)); errno != 0 {
			t.Fatal(errno)
		}
	}
	mine, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}

	p := &pseudoterminal{user: user, mine: mine, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		for part := make([]byte, 4096); ; {
			n, err := user.Read(part) // fails with EIO after the other side is closed
			p.mu.Lock()
			p.text = append(p.text, part[:n]...)
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { user.Close() })
	return p
}

func (p *pseudoterminal) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.text)
}

// frames returns the progress lines that have been printed so far.
func (p *pseudoterminal) frames() (list []string) {
	for _, frame := range strings.Split(p.String(), "\r\x1b[K")[1:] {
		if frame != "" && !strings.Contains(frame, "\n") { // text with line feeds is a result or a message
			list = append(list, frame)
		}
	}
	return list
}

// await waits until a frame is shown. On a slow machine, a frame may end with the elapsed or
// remaining time.
func (p *pseudoterminal) await(t *testing.T, frame string) {
	t.Helper()
	whole := regexp.MustCompile("^(?:" + frame + ")(?: · [0-9]+ s(?: left)?)?$")
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		for _, f := range p.frames() {
			if whole.MatchString(f) {
				return
			}
		}
		if time.Since(began) > patient {
			t.Fatalf("no frame %q: %.500q", frame, p.String())
		}
	}
}

// screen returns the text that remains visible on the terminal.
func (p *pseudoterminal) screen() string {
	var lines [][]rune
	var line []rune
	at := 0
	for text := p.String(); text != ""; {
		if rest, ok := strings.CutPrefix(text, "\x1b[K"); ok {
			line, text = line[:at], rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		switch text = text[size:]; r {
		case '\r':
			at = 0
		case '\n':
			lines, line, at = append(lines, line), nil, 0
		default:
			line = append(line[:at], append([]rune{r}, line[min(at+1, len(line)):]...)...)
			at++
		}
	}

	var b strings.Builder
	for _, l := range append(lines, line) {
		b.WriteString(string(l) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A holder is a file to which a program writes its results. It accepts no data until it is
// released.
type holder struct{ user, mine *os.File }

// newHolder returns a holder that is already full. It is a socket instead of a pipe, because no
// progress is shown if stdout is a pipe.
func newHolder(t *testing.T) *holder {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(pair[1], true); err != nil {
		t.Fatal(err)
	}
	for filler := make([]byte, 4096); ; {
		n, err := syscall.Write(pair[1], filler)
		if err == syscall.EAGAIN && len(filler) == 1 {
			break
		} else if err == syscall.EAGAIN {
			filler = filler[:1]
		} else if err != nil || n == 0 {
			t.Fatal(n, err)
		}
	}
	if err := syscall.SetNonblock(pair[1], false); err != nil {
		t.Fatal(err)
	}
	h := &holder{os.NewFile(uintptr(pair[0]), "results"), os.NewFile(uintptr(pair[1]), "stdout")}
	t.Cleanup(func() { h.user.Close() })
	return h
}

// release lets the holder accept the results, and returns them without the data that filled the
// holder.
func (h *holder) release(t *testing.T) string {
	t.Helper()
	data, err := io.ReadAll(h.user)
	if err != nil {
		t.Error(err)
	}
	return string(bytes.TrimLeft(data, "\x00"))
}

// looksAt starts the program with a terminal as its stderr.
func looksAt(t *testing.T, dir string, p *pseudoterminal, stdin io.Reader, stdout *os.File, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("receipt", args...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = dir, stdin, p.mine
	cmd.Stdout = p.mine
	if stdout != nil {
		cmd.Stdout = stdout
	}
	cmd.Env = append(os.Environ(), "CI=", "TERM=xterm", "NO_COLOR=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

// ends waits until the program exits, and reads its remaining output.
func (p *pseudoterminal) ends(t *testing.T, cmd *exec.Cmd, exit int) {
	t.Helper()
	cmd.Wait()
	p.mine.Close()
	<-p.done
	if got := cmd.ProcessState.ExitCode(); got != exit {
		t.Errorf("exit %d, expected %d: %s", got, exit, p.screen())
	}
	for _, frame := range p.frames() {
		if n := utf8.RuneCountInString(frame); n > 79 {
			t.Errorf("a frame of %d columns: %s", n, frame)
		}
		if strings.Contains(frame, "\x1b") {
			t.Errorf("a frame with escapes: %q", frame)
		}
	}
}

// progressReceipts creates 40 receipts, their drafts, a ledger with these receipts, and two files
// that each contain half of the receipts.
func progressReceipts(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	draft := readFile(t, "../../docs/draft.json")
	var compact bytes.Buffer
	for i := range 40 {
		one := regexp.MustCompile(`"receipt_id": *"[^"]*"`).ReplaceAll(draft, fmt.Appendf(nil, `"receipt_id":"receipt_%d"`, i))
		compact.Write(append(bytes.ReplaceAll(one, []byte("\n"), nil), '\n'))
	}
	writeFiles(t, dir, map[string][]byte{"drafts.jsonl": compact.Bytes(), "draft.json": draft, "ledger.db": emptyLedger(t)})
	runLines(t, dir,
		"receipt ledger issue ledger.db drafts.jsonl --unsigned >receipts.jsonl",
		"head -n 20 receipts.jsonl >first.jsonl; tail -n 20 receipts.jsonl >second.jsonl",
	)
	return dir
}

// progressFiles creates the input files for all commands.
func progressFiles(t *testing.T) (dir string) {
	t.Helper()
	dir = progressReceipts(t)
	more := map[string][]byte{"other.db": emptyLedger(t), "faulty.db": emptyLedger(t)}
	var err error
	if more["issuer.private.json"], err = os.ReadFile("../../fixtures/keys/key_2026_04.private.json"); err != nil {
		t.Fatal(err)
	}
	addReplay(t, more)
	addBundles(t, more)
	writeFiles(t, dir, more)
	copyFixture(t, "keys/log_1.private.json", filepath.Join(dir, "log.json"))
	copyFixture(t, "keys/trust.json", filepath.Join(dir, "trust.json"))

	runLines(t, dir,
		"head -n 1 receipts.jsonl >one.json",
		"receipt ledger import faulty.db first.jsonl --integrity-only",
		"receipt archive pack receipts.jsonl -o receipts.cborseq",
		"receipt batch checkpoint first.jsonl --key log.json --origin log.example.net/receipts -o first.txt",
		"receipt batch checkpoint receipts.jsonl --key log.json --origin log.example.net/receipts -o all.txt",
		"receipt verify --integrity-only --report first.report.json first.jsonl; receipt verify --integrity-only --report second.report.json --previous $(receipt hash first.jsonl:20) second.jsonl",
	)
	return dir
}

func writeFiles(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for name, data := range files {
		writeFile(t, filepath.Join(dir, name), data)
	}
}

// runLines runs shell commands in a directory.
func runLines(t *testing.T, dir string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		cmd := exec.Command("sh", "-ec", line)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v, %s", line, err, out)
		}
	}
}

// TestProgress verifies that every command that may run for a long time shows its progress on a
// terminal, and removes the progress line at the end.
func TestProgress(t *testing.T) {
	dir := progressFiles(t)
	db, err := sql.Open("sqlite", filepath.Join(dir, "faulty.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE receipts SET session = 'x'"); err != nil {
		t.Fatal(err)
	}
	db.Close()

	const origin = " --key log.json --origin log.example.net/receipts"
	size := `[0-9.]+ KB`
	for name, test := range map[string]struct {
		line, frame string
		exit        int
	}{
		"verify":             {"verify --integrity-only receipts.jsonl", `verifying · SIZE of SIZE · 40 receipts`, 0},
		"verify several":     {"verify --integrity-only first.jsonl second.jsonl", `pass 2 of 2: verifying · SIZE of SIZE · 40 receipts`, 0},
		"verify checkpoint":  {"verify --keys trust.json --checkpoint all.txt receipts.jsonl", `pass 2 of 2: verifying · SIZE of SIZE · 40 receipts`, 3},
		"export":             {"ledger export ledger.db", `exporting · [0-9]+ of 40 receipts`, 0},
		"export some":        {"ledger export ledger.db --from 2020-01-01T00:00:00Z", `exporting · [0-9]+ receipts`, 0},
		"list":               {"ledger list ledger.db", `listing · [0-9]+ of 40 receipts`, 0},
		"fsck":               {"ledger fsck ledger.db --integrity-only", `pass 2 of 2: verifying · 40 of 40 receipts`, 0},
		"fsck of a damaged":  {"ledger fsck faulty.db --integrity-only", `pass 2 of 2: verifying · 1 s`, 1},
		"ledger checkpoint":  {"ledger checkpoint ledger.db" + origin, `verifying · 40 of 40 receipts`, 0},
		"ledger prove":       {"ledger prove ledger.db --checkpoint all.txt --receipt receipt_3", `reading · 40 of 40 receipts`, 0},
		"ledger consistency": {"ledger consistency ledger.db --from-checkpoint first.txt --to-checkpoint all.txt", `reading · 40 of 40 receipts`, 0},
		"checkpoint":         {"batch checkpoint receipts.jsonl" + origin, `verifying · SIZE of SIZE · 40 receipts`, 0},
		"checkpoint several": {"batch checkpoint first.jsonl second.jsonl" + origin, `pass 2 of 2: verifying · SIZE of SIZE · 40 receipts`, 0},
		"prove":              {"batch prove receipts.jsonl --checkpoint all.txt --receipt receipt_3", `reading · SIZE of SIZE · 40 receipts`, 0},
		"consistency":        {"batch consistency receipts.jsonl --from first.txt --to all.txt", `reading · SIZE of SIZE · 40 receipts`, 0},
		"pack":               {"archive pack receipts.jsonl", `packing · SIZE of SIZE · [0-9]+ receipts`, 0},
		"unpack":             {"archive unpack receipts.cborseq", `unpacking · SIZE of SIZE · [0-9]+ receipts`, 0},
		"seal":               {"seal draft.json", `pass 2 of 2: sealing · 1 s`, 0},
		"redact":             {"redact draft.json", `pass 2 of 2: redacting · 1 s`, 0},
		"replay plan":        {"replay plan log.jsonl", `replaying · 1 s`, 0},
		"bundle export":      {"bundle export run.json", `exporting · SIZE · 1 s`, 0},
		"bundle validate":    {"bundle validate bundle.json", `checking · SIZE · 1 s`, 0},
		"bundle sanitize":    {"bundle sanitize local-bundle.json", `sanitizing · SIZE · 1 s`, 0},
		"bundle import":      {"bundle import bundle.json", `importing · SIZE · 1 s`, 0},
		"bundle draft":       {"bundle draft bundle.json --issuer my_harness", `drafting · SIZE · 1 s`, 0},
		"merge":              {"merge first.report.json second.report.json", `pass 2 of 2: merging · 1 s`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, results := newTerminal(t, 80), newHolder(t)
			cmd := looksAt(t, dir, p, nil, results.mine, strings.Fields(test.line)...)
			results.mine.Close()
			p.await(t, strings.ReplaceAll(test.frame, "SIZE", size))
			if out := results.release(t); out == "" {
				t.Error("no results")
			}
			p.ends(t, cmd, test.exit)
			if left := p.screen(); regexp.MustCompile(`pass|ing ·`).MatchString(left) {
				t.Errorf("it leaves %q", left)
			}
		})
	}
}

// TestProgressOfInput verifies that the amount of input that has been read is shown while more
// input arrives.
func TestProgressOfInput(t *testing.T) {
	dir := progressFiles(t)
	read := func(name string) []byte {
		data := readFile(t, filepath.Join(dir, name))
		return data
	}
	events := readFile(t, "../../receipt/record/testdata/run.jsonl")
	for name, test := range map[string]struct {
		line, frame string
		input       []byte
		exit        int
	}{
		"verify":      {"verify --integrity-only -", `verifying · SIZE · [0-9]+ receipts`, read("receipts.jsonl"), 0},
		"copy":        {"verify --checkpoint all.txt --keys trust.json -", `copying stdin · SIZE`, read("receipts.jsonl"), 3},
		"issue":       {"ledger issue other.db - --unsigned", `issuing · SIZE · [0-9]+ receipts`, read("drafts.jsonl"), 0},
		"import":      {"ledger import ledger.db - --integrity-only", `importing · SIZE · [0-9]+ receipts`, read("receipts.jsonl"), 0},
		"batch seal":  {"batch seal - --manifest m.json -o sealed.jsonl", `pass 1 of 2: reading · SIZE · [0-9]+ receipts`, read("drafts.jsonl"), 0},
		"seal":        {"seal -", `pass 1 of 2: reading · SIZE`, read("draft.json"), 0},
		"redact":      {"redact -", `pass 1 of 2: reading · SIZE`, read("draft.json"), 0},
		"record":      {"record - --issuer my_harness", `recording · SIZE`, events, 0},
		"nothing yet": {"seal -", `pass 1 of 2: reading · 1 s`, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTerminal(t, 80)
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := looksAt(t, dir, p, in, nil, strings.Fields(test.line)...)
			in.Close()
			if _, err := out.Write(test.input[:len(test.input)/2]); err != nil {
				t.Fatal(err)
			}
			p.await(t, strings.ReplaceAll(test.frame, "SIZE", `[0-9.]+ (KB|bytes)`))
			if _, err := out.Write(test.input[len(test.input)/2:]); err != nil {
				t.Fatal(err)
			}
			out.Close()
			p.ends(t, cmd, test.exit)

			// Results and messages must be complete, although they share the terminal with the
			// progress line.
			if left := p.screen(); regexp.MustCompile(`pass \d|ing ·`).MatchString(left) {
				t.Errorf("it leaves %q", left)
			}
		})
	}
}

// TestProgressHidden verifies that no progress is shown if stderr is not a terminal, or if the
// progress line would interfere with other output.
func TestProgressHidden(t *testing.T) {
	dir := progressReceipts(t)
	receipts := readFile(t, filepath.Join(dir, "receipts.jsonl"))
	for name, test := range map[string]struct {
		line, variable string
		terminal, pipe bool
	}{
		"no terminal":   {line: "verify --integrity-only -"},
		"a pager":       {line: "verify --integrity-only -", terminal: true, pipe: true},
		"quiet":         {line: "verify --integrity-only --quiet -", terminal: true},
		"never":         {line: "verify --integrity-only --progress never -", terminal: true},
		"CI":            {line: "verify --integrity-only -", terminal: true, variable: "CI=true"},
		"dumb terminal": {line: "archive pack - -o a.cborseq", terminal: true, variable: "TERM=dumb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTerminal(t, 80)
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			var told bytes.Buffer
			cmd := exec.Command("receipt", strings.Fields(test.line)...)
			cmd.Dir, cmd.Stdin, cmd.Stderr = dir, in, p.mine
			cmd.Env = append(os.Environ(), "CI=", "TERM=xterm", test.variable)
			if !test.terminal {
				cmd.Stderr = &told
			}
			if test.pipe {
				cmd.Stdout = &bytes.Buffer{}
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			in.Close()
			time.Sleep(1200 * time.Millisecond)
			if _, err := out.Write(receipts); err != nil {
				t.Fatal(err)
			}
			out.Close()
			p.ends(t, cmd, 0)
			if text := p.String() + told.String(); strings.Contains(text, "\x1b[K") {
				t.Errorf("it shows %q", text)
			}
		})
	}
}

// TestProgressNarrow verifies that the progress line is never wider than the terminal.
func TestProgressNarrow(t *testing.T) {
	dir := progressReceipts(t)
	p, results := newTerminal(t, 40), newHolder(t)
	cmd := looksAt(t, dir, p, nil, results.mine, "verify", "--integrity-only", "first.jsonl", "second.jsonl")
	results.mine.Close()
	p.await(t, `pass 2 of 2: verifying`)
	results.release(t)
	p.ends(t, cmd, cli.ExitVerified)
	for _, frame := range p.frames() {
		if utf8.RuneCountInString(frame) > 39 {
			t.Errorf("too wide: %s", frame)
		}
	}
}

// TestProgressInterrupted verifies that an interrupted command removes the progress line before it
// prints its message.
func TestProgressInterrupted(t *testing.T) {
	p := newTerminal(t, 80)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := looksAt(t, t.TempDir(), p, in, nil, "verify", "--integrity-only", "-")
	in.Close()
	p.await(t, "verifying · 1 s")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.ends(t, cmd, cli.ExitUsage)
	if got := p.screen(); got != "receipt: error: interrupted\n" {
		t.Errorf("it leaves %q", got)
	}
}
