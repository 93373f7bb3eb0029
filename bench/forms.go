package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

// These files contain the first receipts from the corpus, which take half a second to verify, and
// five times as many minimal receipts.
const (
	formsCount = 10_000
	formsFile  = "forms.jsonl"
	plainFile  = "plain.jsonl"
	plainTimes = 5
)

// A form is an output format of the command.
type form struct {
	name   string
	flags  []string
	report string // extension of a report that is written in addition to text
	piped  bool   // whether stdout is a pipe instead of a file
	plain  bool   // verify plainFile
	most   float64
}

// These turns precede the turns for the formats.
const (
	textTurn = iota
	plainTurn
	digestTurn
	firstForm
)

func forms() []form {
	return []form{
		{name: "json", flags: []string{"--format", "json"}, most: mostOfForm},
		{name: "ndjson", flags: []string{"--format", "ndjson"}, most: mostNDJSON},
		{name: "json of 1.3 KB", flags: []string{"--format", "json"}, plain: true, most: mostOfForm},
		{name: "ndjson of 1.3 KB", flags: []string{"--format", "ndjson"}, plain: true, most: mostNDJSON},
		{name: "ndjson into a pipe", flags: []string{"--format", "ndjson"}, piped: true},
		{name: "junit", flags: []string{"--format", "junit"}, most: mostOfForm},
		{name: "github", flags: []string{"--format", "github"}, most: mostOfForm},
		{name: "report .json", report: ".json"},
		{name: "report .ndjson", report: ".ndjson"},
		{name: "report .csv", report: ".csv", most: mostOfRows},
		{name: "report .xml", report: ".xml"},
		{name: "report .html", report: ".html"},
	}
}

// outputForms measures the installed command on one core. It measures the time for each output
// format as a multiple of the time for text.
func (b *bench) outputForms() []result.Line { return b.formsOf(formsCount) }

func (b *bench) formsOf(count int) []result.Line {
	b.build("receipt", "..", "./cmd/receipt")
	b.write(formsFile, formsFile+"."+keysFile, corpus.Config{Receipts: count, Seed: seed}, 1, 1)
	b.write(plainFile, plainFile+"."+keysFile, corpus.Config{Receipts: plainTimes * count, Kind: corpus.Minimal, Seed: seed}, 1, 1)

	all := forms()
	turns := []race.Turn{b.formTurn(form{name: "text"}), b.formTurn(form{name: "text of 1.3 KB", plain: true}), b.digests()}
	for _, f := range all {
		turns = append(turns, b.formTurn(f))
	}
	for _, turn := range turns { // run once, so that files and programs are in memory
		must(turn(0))
	}
	times := must(race.Rounds(b.ctx, b.rounds, turns...))

	lines := []result.Line{digestLine(times.Ratio(digestTurn, textTurn))}
	for i, f := range all {
		text := textTurn
		if f.plain {
			text = plainTurn
		}
		ratio := times.Ratio(firstForm+i, text)
		line := atMost(f.most, "forms/"+f.name, "verify to "+f.name+", × text", ratio)
		if f.most == 0 {
			line.Bound = result.Free
		}
		lines = append(lines, line)
	}
	return lines
}

// digestLine returns the line for the time that the digest of the input takes. Each report contains
// this digest, but text does not need it. If the hash of the receipt is computed as well, the
// digest takes about half of that time.
func digestLine(ratio race.Ratio) result.Line {
	line := atMost(0, "forms/digests", "SHA-256 of the input by itself, × text", ratio)
	line.Bound = result.Free
	return line
}

// digests returns a turn that only hashes each receipt in formsFile.
func (b *bench) digests() race.Turn {
	return func(int) (float64, error) {
		text, err := os.ReadFile(filepath.Join(b.dir, formsFile))
		if err != nil {
			return 0, err
		}
		begun := time.Now()
		for line := range bytes.Lines(text) {
			sha256.Sum256(line)
		}
		return time.Since(begun).Seconds(), nil
	}
}

// formTurn returns a turn, in which the command verifies the receipts with one output format. The
// result of the turn is the processor time.
func (b *bench) formTurn(f form) race.Turn {
	in := func(name string) string { return filepath.Join(b.dir, name) }
	file := formsFile
	if f.plain {
		file = plainFile
	}
	args := []string{"verify", "--keys", in(file + "." + keysFile), "--jobs", "1"}
	args = append(args, f.flags...)
	if f.report != "" {
		args = append(args, "--force", "--report", in("report"+f.report))
	}
	args = append(args, in(file))

	return func(int) (float64, error) {
		cmd := exec.CommandContext(b.ctx, in("receipt")+exe(), args...)
		cmd.Stderr = os.Stderr
		usage, err := runInto(cmd, f.piped, in("out"))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", f.name, err)
		}
		return usage.Processor, nil
	}
}

// runInto runs a command whose output is written to a file or read from a pipe.
func runInto(cmd *exec.Cmd, piped bool, path string) (race.Usage, error) {
	if piped {
		cmd.Stdout = struct{ io.Writer }{io.Discard} // os/exec uses a pipe because this is not an *os.File
		return race.Run(cmd)
	}

	out, err := os.Create(path)
	if err != nil {
		return race.Usage{}, err
	}
	defer out.Close()
	cmd.Stdout = out
	return race.Run(cmd)
}
