// Command rows measures what a table of verdicts costs: how many times as long a
// verification takes that writes one, and how much more memory. See ../README.md.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/process"
	"github.com/receiptkit/receiptkit/bench/internal/stat"
)

// What a table may take beside the verification.
const (
	mostTimes = 1.25
	mostMore  = 64 // MiB, whatever the number of rows
)

func main() {
	receipts := flag.Int("receipts", 1_000_000, "`N` receipts, of 1.3 KB each")
	rounds := flag.Int("rounds", 3, "`rounds`, of which the median counts; a round is a run without a table and one with each")
	must := flag.Bool("must", false, "exit 1 when the table takes more than it may")
	write := flag.String("write", "", "write the receipts into this `FOLDER`, which is how the process that does so is started")
	flag.Parse()
	switch {
	case flag.NArg() > 0 || *receipts < 1 || *rounds < 1:
		flag.Usage()
		os.Exit(2)
	case *write != "":
		end(writeCorpus(*write, *receipts))
	}
	end(table(os.Stdout, *receipts, *rounds, *must))
}

func end(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "rows: %v\n", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// writeCorpus writes receipts of one stream, and their keys.
func writeCorpus(dir string, receipts int) error {
	c, err := corpus.New(corpus.Config{Kind: corpus.Minimal, Receipts: receipts, Seed: 1})
	if err != nil {
		return err
	}
	keys, err := c.Keys()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "keys.json"), keys, 0o666); err != nil {
		return err
	}

	file, err := os.Create(filepath.Join(dir, "corpus.jsonl"))
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriterSize(file, 1<<20)
	for _, text := range c.All() {
		w.Write(text)
		w.WriteByte('\n')
	}
	return errors.Join(w.Flush(), file.Close())
}

// A cost is what runs of one form took.
type cost struct{ seconds, times, memory []float64 }

func (c *cost) add(seconds, without, memory float64) {
	c.seconds, c.times, c.memory = append(c.seconds, seconds), append(c.times, seconds/without), append(c.memory, memory)
}

// table writes a line for each form. Processes do the work: a child never seems to take
// less memory than who started it.
func table(w io.Writer, receipts, rounds int, must bool) error {
	dir, err := os.MkdirTemp("", "rows")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := filepath.Join(dir, "receipt")
	for _, line := range [][]string{{"go", "-C", "..", "build", "-o", command, "./cmd/receipt"}, {self, "-write", dir, "-receipts", fmt.Sprint(receipts)}} {
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w", line[0], err)
		}
	}

	// A ratio is taken within a round.
	forms := []string{"", ".csv"}
	costs := make([]cost, len(forms))
	for range rounds {
		without := 0.0
		for i, form := range forms {
			seconds, memory, err := run(command, dir, form)
			if err != nil {
				return err
			}
			if form == "" {
				without = seconds
			}
			costs[i].add(seconds, without, memory/(1<<20))
		}
	}
	return tell(w, dir, receipts, forms, costs, must)
}

func tell(w io.Writer, dir string, receipts int, forms []string, costs []cost, must bool) error {
	fmt.Fprintf(w, "%d receipts, one job, %s\n\n%-10s %9s %9s %9s %9s\n", receipts, runtime.Version(), "table", "seconds", "× none", "MiB", "bytes/row")
	for i, form := range forms {
		c, size := &costs[i], int64(0)
		if form != "" {
			info, err := os.Stat(filepath.Join(dir, "table"+form))
			if err != nil {
				return err
			}
			size = info.Size()
		}
		fmt.Fprintf(w, "%-10s %9.2f %9.2f %9.0f %9.0f\n", form, stat.Median(c.seconds), stat.Median(c.times), stat.Median(c.memory), float64(size)/float64(receipts))
	}

	last, first := &costs[len(costs)-1], &costs[0]
	if more := stat.Median(last.memory) - stat.Median(first.memory); must && (stat.Median(last.times) > mostTimes || more > mostMore) {
		return fmt.Errorf("expected at most %g times, and %d MiB more", mostTimes, mostMore)
	}
	return nil
}

// run verifies, and returns the processor time and the peak of memory of the command.
func run(command, dir, form string) (seconds, memory float64, err error) {
	args := []string{"verify", "--quiet", "--jobs", "1", "--keys", filepath.Join(dir, "keys.json")}
	if form != "" {
		args = append(args, "--force", "--report", filepath.Join(dir, "table"+form))
	}
	cmd := exec.Command(command, append(args, filepath.Join(dir, "corpus.jsonl"))...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, 0, err
	}
	state := cmd.ProcessState
	return (state.UserTime() + state.SystemTime()).Seconds(), process.PeakMemory(state), nil
}
