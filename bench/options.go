package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// seed is the default seed that ./corpus uses.
const seed = 1

// Numbers of receipts.
const (
	wholeCorpus   = 100_000
	defaultSample = 7_000
	shortCount    = 200 // number of receipts in a round of the short form
)

// speedRounds is the number of rounds if the short form is compared with its record.
const speedRounds = 3

// options contains the options from the command line.
type options struct {
	rounds   int
	receipts int
	slice    time.Duration
	skip     []string
	only     bool // skip lists all sections except the sections in -only

	must, record, linear, profile, forms, speed, document bool
}

func parse(args []string, messages io.Writer) (*options, error) {
	o := new(options)
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(messages)
	f.IntVar(&o.rounds, "rounds", 7, "interleaved `rounds`, of which the median counts; at least 5")
	f.IntVar(&o.receipts, "receipts", defaultSample, "how many receipts of the corpus all rounds together verify; at most 100,000")
	f.DurationVar(&o.slice, "time", 60*time.Millisecond, "repeat shorter measurements for this duration in one turn")
	skip := f.String("skip", "", "`sections` to leave out, with commas, of "+sectionNames()+"; memory writes a file of 1.1 GB")
	only := f.String("only", "", "measure only these `sections`, and no table below them")
	f.BoolVar(&o.must, "must", false, "exit with 1 when a line is not met")
	f.BoolVar(&o.linear, "linear", false, "measure streams of up to 10^6 receipts, not only 10^5")
	f.BoolVar(&o.profile, "profile", false, "report only where the time of a verification is spent")
	f.BoolVar(&o.forms, "forms", false, "measure only the time of the command for each output format")
	f.BoolVar(&o.record, "record", false, "measure everything, and write "+recordedFile+" and "+documentFile)
	f.BoolVar(&o.speed, "speed", false, "measure in a short form, and exit with 1 when a line has lost more than 30 % against "+recordedFile)
	f.BoolVar(&o.document, "document", false, "measure nothing, and write "+documentFile+" from "+recordedFile)
	if err := f.Parse(args); err != nil {
		return nil, flag.ErrHelp // the flag package has already printed the error
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("expected flags only, found %q; -h lists them", f.Arg(0))
	}
	if *skip != "" {
		o.skip = strings.Split(*skip, ",")
	}
	if *only != "" {
		o.only = true
		o.skip = append(o.skip, othersThan(strings.Split(*only, ","))...)
	}
	return o, o.check(*only)
}

// othersThan returns the names of the other sections.
func othersThan(names []string) (others []string) {
	for _, s := range sections() {
		if !slices.Contains(names, s.name) {
			others = append(others, s.name)
		}
	}
	return others
}

func (o *options) check(only string) error {
	for _, name := range append(strings.Split(only, ","), o.skip...) {
		if name != "" && !slices.ContainsFunc(sections(), func(s section) bool { return s.name == name }) {
			return fmt.Errorf("-skip and -only name sections, of %s; found %q", sectionNames(), name)
		}
	}
	modes := 0
	for _, on := range []bool{o.profile, o.forms, o.record, o.speed, o.document} {
		if on {
			modes++
		}
	}
	switch {
	case modes > 1:
		return errors.New("-profile, -forms, -record, -speed and -document exclude each other")
	case o.rounds < 5:
		return fmt.Errorf("-rounds is 5 or more, found %d", o.rounds)
	case o.receipts < o.rounds || o.receipts > wholeCorpus:
		return fmt.Errorf("invalid -receipts: must be between the number of rounds and %d, found %d", wholeCorpus, o.receipts)
	case o.slice <= 0:
		return fmt.Errorf("-time is positive, found %v", o.slice)
	case o.record && len(o.skip) > 0:
		return errors.New("-record records everything: -skip and -only do not go with it")
	}
	return nil
}
