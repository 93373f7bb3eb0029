// Command verdicts compares two versions of the command. It compares exit codes, verdicts, checks,
// codes, and pointers for files, for directories, and for mutants of the receipts among them.
//
//	go run ./verdicts [-mutants N] [-seed N] OLD NEW KEYS PATH...
//
// OLD and NEW are the paths of two binaries, and KEYS is a trust file. It prints each difference.
// The exit code is 1 if there is a difference.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/fixtures/mutate"
)

func main() {
	mutants := flag.Int("mutants", 1000, "compare `N` mutants")
	seed := flag.Uint64("seed", 1, "seed of the mutants")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: verdicts [flags] OLD NEW KEYS PATH...")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 4 {
		flag.Usage()
		os.Exit(2)
	}

	c := &comparison{old: flag.Arg(0), new: flag.Arg(1), keys: flag.Arg(2), out: os.Stdout}
	if err := c.all(flag.Args()[3:], *mutants, *seed); err != nil {
		fmt.Fprintf(os.Stderr, "verdicts: error: %v\n", err)
		os.Exit(2)
	}
	fmt.Printf("%d runs, %d receipts, %d differ\n", c.runs, c.receipts, c.different)
	if c.different > 0 {
		os.Exit(1)
	}
}

// maxFile is the size of the largest file that is compared, in bytes.
const maxFile = 3 << 20

type comparison struct {
	old, new, keys            string
	out                       io.Writer
	runs, receipts, different int
}

// all compares the results for every file and directory below the paths, and for mutants of the
// receipts.
func (c *comparison) all(paths []string, mutants int, seed uint64) error {
	var receipts [][]byte
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil || !d.IsDir() && (!d.Type().IsRegular() || info.Size() > maxFile) {
				return err
			}
			if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte(`"receipt-2026-04-25"`)) && mutate.Parse(data) != nil {
				receipts = append(receipts, data)
			}
			return c.compare(name)
		})
		if err != nil {
			return err
		}
	}

	if mutants == 0 {
		return nil
	}
	if len(receipts) == 0 {
		return errors.New("no path has a receipt to mutate")
	}
	return c.mutants(receipts, mutants, seed)
}

// mutants compares the results for a file that contains mutants, one receipt per line, in several
// ways.
func (c *comparison) mutants(receipts [][]byte, n int, seed uint64) error {
	dir, err := os.MkdirTemp("", "verdicts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	file := filepath.Join(dir, "mutants.jsonl")
	if err := os.WriteFile(file, mutantsOf(receipts, n, seed), 0o600); err != nil {
		return err
	}
	for _, flags := range [][]string{nil, {"--unordered"}, {"--partial"}, {"--strict", "--partial"}} {
		if err := c.compare(file, append(flags, "--input", "lines")...); err != nil {
			return err
		}
	}
	return nil
}

// mutantsOf returns n lines, each of which is a receipt whose structure or text is damaged.
func mutantsOf(receipts [][]byte, n int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	var lines []byte
	for range n {
		text := receipts[r.IntN(len(receipts))]
		if r.IntN(4) > 0 {
			v, donor := mutate.Parse(text), mutate.Parse(receipts[r.IntN(len(receipts))])
			mutate.Structure(r, v, donor)
			text = v.Append(nil)
		} else {
			text = mutate.Text(r, text)
		}
		line := bytes.ReplaceAll(bytes.TrimSpace(text), []byte{'\n'}, []byte{' '})
		lines = append(append(lines, line...), '\n')
	}
	return lines
}

// An answer contains what the command reports for an input.
type answer struct {
	exit    int
	reports []string
}

// compare runs both versions of the command on a path.
func (c *comparison) compare(path string, flags ...string) error {
	old, err := c.ask(c.old, path, flags)
	if err != nil {
		return err
	}
	now, err := c.ask(c.new, path, flags)
	if err != nil {
		return err
	}

	c.runs, c.receipts = c.runs+1, c.receipts+len(old.reports)
	if old.exit == now.exit && slices.Equal(old.reports, now.reports) {
		return nil
	}
	c.different++
	fmt.Fprintf(c.out, "%s %s: exit %d, now %d\n", path, strings.Join(flags, " "), old.exit, now.exit)
	for i := range max(len(old.reports), len(now.reports)) {
		if was, is := at(old.reports, i), at(now.reports, i); was != is {
			fmt.Fprintf(c.out, "  receipt %d:\n    %s\n    %s\n", i+1, was, is)
			break
		}
	}
	return nil
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "none"
}

// ask runs the command, and returns its exit code, and the verdict and the checks for each receipt.
func (c *comparison) ask(program, path string, flags []string) (a answer, err error) {
	cmd := exec.Command(program, slices.Concat([]string{"verify", "--keys", c.keys, "--format", "ndjson"}, flags, []string{path})...)
	text, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return a, err
	}
	a.exit = cmd.ProcessState.ExitCode()

	for line := range bytes.Lines(text) {
		var report struct {
			Verdict string `json:"verdict"`
			Checks  []struct {
				Check   string `json:"check"`
				Status  string `json:"status"`
				Code    string `json:"code"`
				Pointer string `json:"pointer"`
			} `json:"checks"`
		}
		if err := json.Unmarshal(line, &report); err != nil {
			return a, fmt.Errorf("%s %s: %w", program, path, err)
		}
		if report.Checks != nil {
			a.reports = append(a.reports, fmt.Sprint(report.Verdict, report.Checks))
		}
	}
	return a, nil
}
