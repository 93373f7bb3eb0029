package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// Files that memory needs in bench.dir.
const (
	corpusFile = "corpus.jsonl"
	headFile   = "head.jsonl" // the first receipts of the corpus
	keysFile   = "keys.json"
)

// mostMemory is what the command may need, in MiB.
const mostMemory = 64

// command measures the command as it is installed: how much faster two jobs are
// than one, and what memory it needs for the whole corpus. Another program starts
// it, since on Linux a process begins with the peak memory of whoever started it.
func (b *bench) command() ([]result.Line, error) {
	if err := b.build("receipt", "..", "./cmd/receipt"); err != nil {
		return nil, err
	}
	if err := b.build("measure", ".", "./measure"); err != nil {
		return nil, err
	}
	if err := b.cutHead(); err != nil {
		return nil, err
	}
	two, err := b.twoJobs()
	if err != nil {
		return nil, err
	}
	rows, err := b.measured(1, "2", corpusFile)
	if err != nil {
		return nil, err
	}
	memory := result.Line{ID: "command/memory", Measure: "verify all of the corpus, peak memory",
		Bound: result.Most, Must: mostMemory, Seen: rows[0].Memory, Worst: rows[0].Memory, Unit: "MiB", Absent: rows[0].Memory == 0}
	if info, err := os.Stat(filepath.Join(b.dir, corpusFile)); err == nil {
		memory.Note = fmt.Sprintf("%.2f GB in %.1f s", float64(info.Size())/1e9, rows[0].Wall)
	}
	return []result.Line{two, memory}, nil
}

func (b *bench) twoJobs() (result.Line, error) {
	line := result.Line{ID: "command/jobs", Measure: "verify with two jobs, × one", Bound: result.Least, Must: 1.8, Unit: "×"}
	if runtime.NumCPU() < 2 {
		line.Absent, line.Note = true, "this machine has one core"
		return line, nil
	}
	rows, err := b.measured(b.rounds, "1,2", headFile)
	if err != nil {
		return line, err
	}
	line.Seen, line.Worst, line.Note = rows[1].Gain, rows[1].LeastGain, "of wall time"
	return line, nil
}

func (b *bench) build(name, from, what string) error {
	cmd := exec.CommandContext(b.ctx, "go", "-C", from, "build", "-o", filepath.Join(b.dir, name)+exe(), what)
	cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	return cmd.Run()
}

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// A row is one of the table that measure prints.
type row struct{ Wall, Memory, Gain, LeastGain float64 }

func (b *bench) measured(rounds int, jobs, file string) ([]row, error) {
	in := func(name string) string { return filepath.Join(b.dir, name) }
	cmd := exec.CommandContext(b.ctx, in("measure")+exe(), "-json", "-runs", strconv.Itoa(rounds), "-jobs", jobs,
		in("receipt")+exe(), "verify", "--keys", in(keysFile), "--quiet", "--jobs", "{jobs}", in(file))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var rows []row
	return rows, json.Unmarshal(out, &rows)
}

// cutHead writes the first receipts of the corpus to a file of their own.
func (b *bench) cutHead() error {
	in, err := os.Open(filepath.Join(b.dir, corpusFile))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(b.dir, headFile))
	if err != nil {
		return err
	}
	defer out.Close()
	if _, err := io.CopyN(out, in, b.sample.headBytes); err != nil {
		return err
	}
	return out.Close()
}
