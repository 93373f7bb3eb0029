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

// Files in bench.dir for the sections about the command.
const (
	corpusFile = "corpus.jsonl"
	headFile   = "head.jsonl" // the first receipts of the corpus
	keysFile   = "keys.json"
)

// mostMemory is the memory limit of the command, in MiB.
const mostMemory = 64

// command measures the installed command: how much faster two jobs are than one, and how much
// memory it needs for the entire corpus. Another program starts it, because on Linux a process
// starts with the peak memory of its parent.
func (b *bench) command() []result.Line {
	b.build("receipt", "..", "./cmd/receipt")
	b.build("measure", ".", "./measure")
	b.cutHead()
	two := b.twoJobs()
	rows := b.measured(1, "2", corpusFile)
	memory := result.Line{ID: "command/memory", Measure: "verify all of the corpus, peak memory",
		Bound: result.Most, Must: mostMemory, Seen: rows[0].Memory, Worst: rows[0].Memory, Unit: "MiB", Absent: rows[0].Memory == 0}
	if info, err := os.Stat(filepath.Join(b.dir, corpusFile)); err == nil {
		memory.Note = fmt.Sprintf("%.2f GB in %.1f s", float64(info.Size())/1e9, rows[0].Wall)
	}
	return []result.Line{two, memory}
}

func (b *bench) twoJobs() result.Line {
	line := result.Line{ID: "command/jobs", Measure: "verify with two jobs, × one", Bound: result.Least, Must: 1.8, Unit: "×"}
	if runtime.NumCPU() < 2 {
		line.Absent, line.Note = true, "this machine has one core"
		return line
	}
	rows := b.measured(b.rounds, "1,2", headFile)
	line.Seen, line.Worst, line.Note = rows[1].Gain, rows[1].LeastGain, "of wall time"
	return line
}

func (b *bench) build(name, from, what string) {
	cmd := exec.CommandContext(b.ctx, "go", "-C", from, "build", "-o", filepath.Join(b.dir, name)+exe(), what)
	cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	check(cmd.Run())
}

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// A row is a row of the table that measure prints.
type row struct{ Wall, Memory, Gain, LeastGain float64 }

func (b *bench) measured(rounds int, jobs, file string) []row {
	in := func(name string) string { return filepath.Join(b.dir, name) }
	cmd := exec.CommandContext(b.ctx, in("measure")+exe(), "-json", "-runs", strconv.Itoa(rounds), "-jobs", jobs,
		in("receipt")+exe(), "verify", "--keys", in(keysFile), "--quiet", "--jobs", "{jobs}", in(file))
	cmd.Stderr = os.Stderr
	var rows []row
	check(json.Unmarshal(must(cmd.Output()), &rows))
	return rows
}

// cutHead writes the first receipts of the corpus to a separate file.
func (b *bench) cutHead() {
	in := must(os.Open(filepath.Join(b.dir, corpusFile)))
	defer in.Close()
	out := must(os.Create(filepath.Join(b.dir, headFile)))
	defer out.Close()
	must(io.CopyN(out, in, b.sample.headBytes))
	check(out.Close())
}
