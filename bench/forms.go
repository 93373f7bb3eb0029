package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/bench/internal/result"
)

const (
	formsFile  = "forms.jsonl"
	formsCount = 10_000 // receipts of it: half a second
)

// mostOfForm is how many times as long as printing text, which of verified receipts is
// nothing, verifying may take when every report is printed.
const mostOfForm = 1.15

// mostOfRows is the same of the table, whose rows tell of the content, too.
const mostOfRows = 1.25

// A form is one way to get the results of the command.
type form struct {
	name   string
	flags  []string
	report string // the extension of a report that is written beside text
	piped  bool   // stdout is a pipe, else a file
	most   float64
}

func forms() []form {
	return []form{
		{name: "json", flags: []string{"--format", "json"}, most: mostOfForm},
		{name: "ndjson", flags: []string{"--format", "ndjson"}, most: mostOfForm},
		{name: "ndjson into a pipe", flags: []string{"--format", "ndjson"}, piped: true},
		{name: "junit", flags: []string{"--format", "junit"}, most: mostOfForm},
		{name: "github", flags: []string{"--format", "github"}, most: mostOfForm},
		{name: "report .json", report: ".json"},
		{name: "report .ndjson", report: ".ndjson"},
		{name: "report .csv", report: ".csv"},
		{name: "report .parquet", report: ".parquet", most: mostOfRows},
		{name: "report .xml", report: ".xml"},
		{name: "report .html", report: ".html"},
	}
}

// outputForms measures the command as it is installed: how many times as long as with text
// it takes in each other form, on one core.
func (b *bench) outputForms() ([]result.Line, error) { return b.formsOf(formsCount) }

func (b *bench) formsOf(count int) ([]result.Line, error) {
	if err := b.build("receipt", "..", "./cmd/receipt"); err != nil {
		return nil, err
	}
	if err := b.writeForms(count); err != nil {
		return nil, err
	}

	all := forms()
	turns := []race.Turn{b.formTurn(form{name: "text"})}
	for _, f := range all {
		turns = append(turns, b.formTurn(f))
	}
	for _, turn := range turns { // once, so that files and programs are in memory
		if _, err := turn(0); err != nil {
			return nil, err
		}
	}
	times, err := race.Rounds(b.ctx, b.rounds, turns...)
	if err != nil {
		return nil, err
	}

	var lines []result.Line
	for i, f := range all {
		ratio := times.Ratio(i+1, 0)
		line := atMost(f.most, "forms/"+f.name, "verify to "+f.name+", × text", ratio)
		if f.most == 0 {
			line.Bound = result.Free
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// writeForms writes receipts of the corpus and its keys.
func (b *bench) writeForms(count int) error {
	file, err := os.Create(filepath.Join(b.dir, formsFile))
	if err != nil {
		return err
	}
	defer file.Close()

	w := bufio.NewWriterSize(file, 1<<20)
	s, err := take(b.ctx, corpus.Config{Receipts: count, Seed: seed}, 1, 1, w)
	if err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.dir, keysFile), s.keyFile, 0o666); err != nil {
		return err
	}
	return file.Close()
}

// formTurn verifies in a form, and returns the processor time of the command alone.
func (b *bench) formTurn(f form) race.Turn {
	in := func(name string) string { return filepath.Join(b.dir, name) }
	args := []string{"verify", "--keys", in(keysFile), "--jobs", "1"}
	args = append(args, f.flags...)
	if f.report != "" {
		args = append(args, "--force", "--report", in("report"+f.report))
	}
	args = append(args, in(formsFile))

	return func(int) (float64, error) {
		cmd := exec.CommandContext(b.ctx, in("receipt")+exe(), args...)
		cmd.Stderr = os.Stderr
		if err := runInto(cmd, f.piped, in("out")); err != nil {
			return 0, fmt.Errorf("%s: %w", f.name, err)
		}
		state := cmd.ProcessState
		return (state.UserTime() + state.SystemTime()).Seconds(), nil
	}
}

// runInto runs a command, with its output in a file or read from a pipe.
func runInto(cmd *exec.Cmd, piped bool, path string) error {
	if piped {
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, out); err != nil {
			return err
		}
		return cmd.Wait()
	}

	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Stdout = out
	return cmd.Run()
}
