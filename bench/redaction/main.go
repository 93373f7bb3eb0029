// Command redaction measures how fast texts are searched for secrets, compared with the naive
// way: each regular expression over the entire text, one after the other. See ../README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"time"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
	"github.com/receiptkit/receiptkit/bench/internal/race"
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
)

func main() {
	rounds := flag.Int("rounds", 5, "interleaved `rounds`, of which the median counts; at least 3")
	least := flag.Float64("least", 0, "exit 1 when a scan is slower than so many `MB/s`")
	flag.Parse()
	if flag.NArg() > 0 || *rounds < 3 {
		flag.Usage()
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	fmt.Printf("search texts without secrets, one core, %s, median of %d rounds\n\n", runtime.Version(), *rounds)
	slowest, err := table(os.Stdout, *rounds)
	if err != nil {
		fmt.Fprintf(os.Stderr, "redaction: %v\n", err)
		os.Exit(2)
	}
	if slowest < *least {
		fmt.Fprintf(os.Stderr, "redaction: %.0f MB/s, expected %.0f\n", slowest, *least)
		os.Exit(1)
	}
}

// table writes a line for each set of detectors and each kind of text, and
// returns the speed of the slowest scan in MB/s.
func table(w io.Writer, rounds int) (slowest float64, err error) {
	fmt.Fprintf(w, "%-10s %9s %-10s %12s %12s %12s %12s\n", "rules", "detectors", "text", "scan MB/s", "policy MB/s", "× naive", "least")
	for _, rules := range []redact.Rules{redact.Upstream(), redact.Default()} {
		for _, t := range texts() {
			r, err := newRivals(rules, t)
			if err != nil {
				return 0, err
			}
			times, err := race.Rounds(context.Background(), rounds, took(25, r.scan), took(25, r.find), took(1, r.naive))
			if err != nil {
				return 0, err
			}
			ratio := times.Ratio(2, 0)
			speed := func(turn int) float64 { return float64(len(r.text)) / 1e6 / times.Median(turn) }
			fmt.Fprintf(w, "%-10s %9d %-10s %12.0f %12.0f %12.0f %12.0f\n", rules.Name, len(rules.Detectors), t.name, speed(0), speed(1), ratio.Median, ratio.Least)
			if s := speed(0); slowest == 0 || s < slowest {
				slowest = s
			}
		}
	}
	return slowest, nil
}

// A text is a text to search, and a document that consists of it or contains it as a string.
type text struct {
	name    string
	content []byte
	json    []byte
}

// size is large enough that the naive way takes some tenths of a second.
const size = 128 << 10

// texts returns unchanged receipts, and lines as agents log them.
func texts() []text {
	c, err := corpus.New(corpus.Config{Receipts: size >> 13, Seed: 1})
	if err != nil {
		panic(err) // the numbers are valid
	}
	var receipts []byte
	for n := range size >> 13 {
		receipts = append(append(receipts, c.Unlinked(n+1)...), ',')
	}
	list := append(append([]byte(`{"metadata":[`), receipts[:len(receipts)-1]...), `]}`...)
	var log []byte
	for n := 0; len(log) < size; n++ {
		log = fmt.Appendf(log, "2026-04-25T10:%02d:11.482Z INFO http: GET /v1/tasks/task_%d 200 in %dms bytes=5120 request_id=%08x-9b1d-4c3e-8a77-1f2e3d4c5b6a user_agent=\"curl/8.5.0\"\n"+
			"She asked for the author's access to the archive, with a token of thanks; the keys are in a drawer. max_tokens=%d, commit %040x\n", n%60, n, n%97, n*7919, n, n*n)
	}
	return []text{{"receipts", list, list}, {"log", log, append(canon.AppendString([]byte(`{"metadata":{"log":`), string(log)), `}}`...)}}
}

// A rivals searches one text in three ways.
type rivals struct {
	text     []byte
	scanner  *secret.Scanner
	patterns []*regexp.Regexp
	policy   *redact.Policy
	doc      *canon.Document
}

func newRivals(rules redact.Rules, t text) (*rivals, error) {
	r := &rivals{text: t.content}
	var err error
	if r.scanner, err = secret.Compile(rules.Detectors); err != nil {
		return nil, err
	}
	if r.policy, err = rules.Compile(); err != nil {
		return nil, err
	}
	if r.doc, err = canon.Parse(t.json); err != nil {
		return nil, err
	}
	for _, d := range rules.Detectors {
		p, err := regexp.Compile(d.Pattern)
		if err != nil {
			return nil, err
		}
		r.patterns = append(r.patterns, p)
	}
	if found := r.scanner.Scan(r.text, nil); len(found) > 0 {
		return nil, fmt.Errorf("%s found %q in the %s", r.scanner.Name(found[0].Detector), r.text[found[0].Start:found[0].End], t.name)
	}
	return r, nil
}

func (r *rivals) scan() { r.scanner.Scan(r.text, nil) }

func (r *rivals) find() { r.policy.Find(r.doc) }

func (r *rivals) naive() {
	for _, p := range r.patterns {
		p.FindAllIndex(r.text, -1)
	}
}

// took returns a turn of f. Its time is the minimum of several runs, because a short disturbance
// takes longer than a scan. The naive way is slow enough for a single run.
func took(times int, f func()) race.Turn {
	return func(int) (float64, error) {
		least := time.Hour
		for range times {
			began := time.Now()
			f()
			least = min(least, time.Since(began))
		}
		return least.Seconds(), nil
	}
}
