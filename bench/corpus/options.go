package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/bench/internal/corpus"
)

// options are the options on the command line.
type options struct {
	config corpus.Config
	dir    string
	forms  []string
	text   textForm
}

func parse(args []string, messages io.Writer) (*options, error) {
	o := &options{config: corpus.Config{Seed: 1}}
	f := flag.NewFlagSet("corpus", flag.ContinueOnError)
	f.SetOutput(messages)
	f.StringVar(&o.dir, "o", "", "the `folder` to write to, made when it is not there")
	f.IntVar(&o.config.Receipts, "receipts", 0, "how many receipts; 0: 100,000 full ones or 1,000,000 minimal ones")
	f.StringVar((*string)(&o.config.Kind), "kind", string(corpus.Full), "full, 2.7 to 33 KB each, or minimal, 1.3 KB")
	f.IntVar(&o.config.Streams, "streams", 1, "how many streams, whose receipts take turns")
	f.Uint64Var(&o.config.Seed, "seed", o.config.Seed, "the same seed gives the same bytes")
	forms := f.String("form", formLines, "one or more `forms`, with commas: "+strings.Join(forms(), ", "))
	text := f.String("text", string(textCanonical), "how JSON is spelled: canonical, ascii or, with files, pretty")
	f.Func("damage", "`N:HARM`: damage receipt N; HARM is hash (one character), signature or break (remove it); repeatable", func(s string) error {
		d, err := corpus.ParseDamage(s)
		o.config.Damage = append(o.config.Damage, d)
		return err
	})
	if err := f.Parse(args); err != nil {
		return nil, flag.ErrHelp // the flag package has printed the error
	}
	if f.NArg() > 0 || o.dir == "" {
		return nil, errors.New("usage: corpus -o DIR [flags]; -h lists them")
	}
	o.forms, o.text = strings.Split(*forms, ","), textForm(*text)
	return o, o.check()
}

// check rejects options that contradict each other.
func (o *options) check() error {
	for i, form := range o.forms {
		switch {
		case !slices.Contains(forms(), form):
			return fmt.Errorf("-form is one of %s, found %q", strings.Join(forms(), ", "), form)
		case slices.Contains(o.forms[:i], form):
			return fmt.Errorf("-form names %s twice", form)
		case o.text == textPretty && form != formFiles:
			return errors.New("-text pretty goes with -form files only, as a line holds one receipt")
		}
	}
	if o.text != textCanonical && o.text != textPretty && o.text != textASCII {
		return fmt.Errorf("-text is canonical, pretty or ascii, found %q", o.text)
	}
	return nil
}

// A textForm is a spelling of JSON.
type textForm string

const (
	textCanonical textForm = "canonical"
	textPretty    textForm = "pretty"
	textASCII     textForm = "ascii"
)

// append appends a canonical text in this spelling.
func (f textForm) append(dst, text []byte) []byte {
	switch f {
	case textPretty:
		return corpus.Pretty(dst, text)
	case textASCII:
		return corpus.ASCII(dst, text)
	}
	return append(dst, text...)
}
