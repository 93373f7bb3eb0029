package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// jobsMark is replaced by the number of jobs in the command line.
const jobsMark = "{jobs}"

// options contains the options from the command line.
type options struct {
	runs    int
	jobs    []int
	exit    int
	limits  limits
	json    bool
	cores   bool
	command []string
}

func parse(args []string, messages io.Writer) (*options, error) {
	o := new(options)
	f := flag.NewFlagSet("measure", flag.ContinueOnError)
	f.SetOutput(messages)
	f.Usage = func() {
		fmt.Fprintf(messages, "usage: measure [flags] COMMAND ARG...\n%s in an argument becomes the number of jobs.\n", jobsMark)
		f.PrintDefaults()
	}
	f.IntVar(&o.runs, "runs", 5, "number of `rounds`, after one warm-up round; the median is reported, and each round has one run per number of jobs")
	jobs := f.String("jobs", "1,2", "the `numbers` of jobs, with commas; others are compared with the first")
	f.IntVar(&o.exit, "exit", 0, "the exit `code` that the command must have")
	f.BoolVar(&o.cores, "cores", false, "let each run use only as many cores as jobs (GOMAXPROCS); otherwise, reading and printing may use another core beside one job")
	f.BoolVar(&o.json, "json", false, "print an array of objects instead of a table")
	f.Float64Var(&o.limits.memory, "most-mib", 0, "fail when a run has a higher peak RSS than so many `MiB`; 0: never")
	f.Float64Var(&o.limits.gain, "least-gain", 0, "fail when the last number of jobs is not so many `times` as fast as the first; 0: never")
	if err := f.Parse(args); err != nil {
		return nil, flag.ErrHelp // the flag package has already printed the error
	}
	o.command = f.Args()
	return o, o.check(*jobs)
}

func (o *options) check(jobs string) error {
	for text := range strings.SplitSeq(jobs, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-jobs is a list such as 1,2, found %q", jobs)
		}
		o.jobs = append(o.jobs, n)
	}
	switch {
	case len(o.command) == 0:
		return errors.New("no command was given; -h shows the usage")
	case o.runs < 1:
		return fmt.Errorf("-runs is 1 or more, found %d", o.runs)
	case len(o.jobs) > 1 && !strings.Contains(strings.Join(o.command, " "), jobsMark):
		return fmt.Errorf("no argument of the command has %s, so %s jobs would all be the same; -jobs 1 measures it as it is", jobsMark, jobs)
	case o.limits.gain > 0 && len(o.jobs) < 2:
		return errors.New("-least-gain needs two numbers of jobs")
	}
	return nil
}

// limit returns the number of cores for a number of jobs, or 0 if there is no limit.
func (o *options) limit(jobs int) int {
	if !o.cores {
		return 0
	}
	return jobs
}

// line returns the command line for a number of jobs.
func (o *options) line(jobs int) []string {
	line := make([]string, len(o.command))
	for i, arg := range o.command {
		line[i] = strings.ReplaceAll(arg, jobsMark, strconv.Itoa(jobs))
	}
	return line
}
