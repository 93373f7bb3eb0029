package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// These files in bench.dir are used by the sections about the command.
const (
	corpusFile = "corpus.jsonl"
	headFile   = "head.jsonl" // the first receipts from the corpus
	keysFile   = "keys.json"
	oneFile    = "one.jsonl" // the first receipt
)

// startRuns is the number of runs for one receipt, each of which takes some milliseconds.
const startRuns = 21

// command measures the installed command: how much faster two jobs on two cores are than one job on
// one core, how much memory and time the entire corpus needs, and how much processor time one
// receipt needs. A separate program starts the command, because on Linux a process starts with the
// peak memory of its parent.
func (b *bench) command() []result.Line {
	b.build("receipt", "..", "./cmd/receipt")
	b.build("measure", ".", "./measure")
	b.cutHead()
	two := b.twoJobs()
	start := b.start()
	rows := b.measured(1, "2", corpusFile)
	memory := result.Line{ID: "command/memory", Measure: "verify all of the corpus, peak memory",
		Bound: result.Most, Must: mostMemory, Seen: rows[0].Memory, Worst: rows[0].Memory, Unit: "MiB", Absent: rows[0].Memory == 0}
	perSecond := float64(b.sample.total) / rows[0].Wall
	pace := result.Line{ID: "command/pace", Measure: "verify all of the corpus, receipts a second", Seen: perSecond, Worst: perSecond}
	if info, err := os.Stat(filepath.Join(b.dir, corpusFile)); err == nil {
		pace.Note = fmt.Sprintf("%.2f GB in %.1f s", float64(info.Size())/1e9, rows[0].Wall)
	}
	return []result.Line{two, start, memory, pace}
}

// start measures the processor time of the command for one receipt, most of which is spent on
// starting the process.
func (b *bench) start() result.Line {
	in := func(name string) string { return filepath.Join(b.dir, name) }
	check(os.WriteFile(in(oneFile), append(bytes.Clone(b.sample.first[0]), '\n'), 0o666))
	var times []float64
	for range 1 + startRuns {
		usage := must(race.Run(exec.CommandContext(b.ctx, in("receipt")+exe(), "verify", "--keys", in(keysFile), in(oneFile))))
		times = append(times, 1000*usage.Processor)
	}
	times = times[1:] // the first run loads the program into memory
	return result.Line{ID: "command/start", Measure: "verify one receipt, processor time of the command",
		Bound: result.Most, Must: mostStart, Seen: race.Median(times), Worst: slices.Max(times), Unit: "ms"}
}

func (b *bench) twoJobs() result.Line {
	line := result.Line{ID: "command/jobs", Measure: "verify on two cores, × one", Bound: result.Least, Must: leastJobs, Unit: "×"}
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

// A row is one line of the table that the command measure prints.
type row struct{ Wall, Memory, Gain, LeastGain float64 }

func (b *bench) measured(rounds int, jobs, file string) []row {
	in := func(name string) string { return filepath.Join(b.dir, name) }
	cmd := exec.CommandContext(b.ctx, in("measure")+exe(), "-json", "-runs", strconv.Itoa(rounds), "-jobs", jobs, "-cores",
		in("receipt")+exe(), "verify", "--keys", in(keysFile), "--quiet", "--jobs", "{jobs}", in(file))
	cmd.Stderr = os.Stderr
	var rows []row
	check(json.Unmarshal(must(cmd.Output()), &rows))
	return rows
}

// cutHead writes the first receipts from the corpus to a separate file.
func (b *bench) cutHead() {
	in := must(os.Open(filepath.Join(b.dir, corpusFile)))
	defer in.Close()
	out := must(os.Create(filepath.Join(b.dir, headFile)))
	defer out.Close()
	must(io.CopyN(out, in, b.sample.headBytes))
	check(out.Close())
}
