package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/mutate"
)

// A mill creates inputs from the cases in the corpus, and verifies them. It is safe for concurrent
// use.
type mill struct {
	cases []([]*testCase) // cases by subject, in a fixed order
	files map[string][]byte
	known verifiers
	seen  tally
}

// A testCase is a case in the corpus.
type testCase struct {
	Task   string
	Inputs []struct{ Role, File string }
	Options

	outcome, about string // expected
}

// Options contains the options of a case, which fixtures/corpus/README.md describes.
type Options struct {
	Options struct {
		Scope, At, Issuer, Previous, Head, Commit string
		Count                                     *uint64
		Strict, Partial, Unordered                bool
		Subjects                                  []string
		Markers                                   bool `json:"allow_secret_markers"`
	}
}

func newMill(corpus string) (*mill, error) {
	m := &mill{files: map[string][]byte{}, seen: tally{words: map[string]int{}}}
	text, err := os.ReadFile(filepath.Join(corpus, "MANIFEST.json"))
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Vectors []struct {
			File, Subject, Conditions string
			Expected                  struct{ Outcome string }
		}
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("reading the manifest of the corpus: %w", err)
	}

	subjects := map[string][]*testCase{}
	for _, v := range manifest.Vectors {
		c, err := m.read(filepath.Join(corpus, filepath.FromSlash(v.File)))
		if err != nil {
			return nil, err
		}
		c.outcome, c.about = v.Expected.Outcome, v.Conditions
		subjects[v.Subject] = append(subjects[v.Subject], c)
	}
	for _, name := range slices.Sorted(maps.Keys(subjects)) {
		m.cases = append(m.cases, subjects[name])
	}
	return m, nil
}

// read reads a case and the files that belong to it.
func (m *mill) read(path string) (*testCase, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c := new(testCase)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("reading case %q: %w", path, err)
	}
	for i, in := range c.Inputs {
		file := filepath.Join(filepath.Dir(path), filepath.FromSlash(in.File))
		if m.files[in.File], err = os.ReadFile(file); err != nil {
			return nil, err
		}
		c.Inputs[i].File = in.File
	}
	return c, nil
}

// A file is an input file of a case, which may have been altered.
type file struct {
	role, name string // empty if the content was altered
	data       []byte
}

// An input is the unit that is verified.
type input struct {
	task  string
	files []file
	Options
}

// input returns the input with number n. It is a case with the case's own options or with other
// options. In most inputs, one file is altered.
func (m *mill) input(n uint64) *input {
	r := rand.New(rand.NewPCG(1, n))
	c := m.draw(r)
	in := m.unaltered(c)
	o := &in.Options.Options
	for _, option := range []*bool{&o.Strict, &o.Partial, &o.Unordered} {
		*option = *option != (r.IntN(12) == 0)
	}
	if r.IntN(4) == 0 && !slices.ContainsFunc(in.files, func(f file) bool { return f.role == "policy" }) {
		o.Scope = "integrity"
	}

	if r.IntN(16) > 0 {
		m.alter(r, in)
	}
	return in
}

// unaltered returns a case without changes.
func (m *mill) unaltered(c *testCase) *input {
	in := &input{task: c.Task, Options: c.Options}
	for _, f := range c.Inputs {
		in.files = append(in.files, file{f.Role, f.File, m.files[f.File]})
	}
	return in
}

func (m *mill) draw(r *rand.Rand) *testCase {
	subject := m.cases[r.IntN(len(m.cases))]
	return subject[r.IntN(len(subject))]
}

// alter alters one file, which is usually a receipt. Half of the altered receipts state their own
// computed hash.
func (m *mill) alter(r *rand.Rand, in *input) {
	f := &in.files[0]
	if r.IntN(3) == 0 {
		f = &in.files[r.IntN(len(in.files))]
	}
	donors := m.draw(r).Inputs
	donor := m.files[donors[r.IntN(len(donors))].File]

	f.name = ""
	if lines := bytes.Split(f.data, []byte("\n")); len(lines) > 2 && mutate.Parse(f.data) == nil {
		f.data = bytes.Join(alterLines(r, lines, donor), []byte("\n"))
		return
	}
	f.data = alterText(r, f.data, donor)
	if f.role == "receipts" && r.IntN(2) == 0 {
		f.data = rehash(f.data)
	}
}

// alterLines removes, repeats, swaps, or alters lines.
func alterLines(r *rand.Rand, lines [][]byte, donor []byte) [][]byte {
	lines = slices.Clone(lines)
	i, j := r.IntN(len(lines)), r.IntN(len(lines))
	switch r.IntN(4) {
	case 0:
		return slices.Delete(lines, i, i+1)
	case 1:
		return slices.Insert(lines, i, lines[j])
	case 2:
		lines[i], lines[j] = lines[j], lines[i]
	default:
		lines[i] = alterText(r, lines[i], donor)
	}
	return lines
}

// alterText alters the structure of JSON, or its bytes.
func alterText(r *rand.Rand, text, donor []byte) []byte {
	if v := mutate.Parse(text); v != nil && r.IntN(5) > 0 {
		other := mutate.Parse(donor)
		if other == nil {
			other = mutate.Parse(text)
		}
		mutate.Structure(r, v, other)
		return v.Append(nil)
	}
	return mutate.Text(r, text)
}

// rehash replaces the stated hash of a receipt with the computed one.
func rehash(text []byte) []byte {
	doc := new(canon.Document)
	if doc.Parse(text, canon.Limits{}) != nil {
		return text
	}
	stated := doc.Root().Member("chain").Member("receipt_hash").String()
	computed, err := chain.Hash(doc)
	if err != nil || stated == "" {
		return text
	}
	return bytes.ReplaceAll(text, []byte(stated), []byte(computed.String()))
}
