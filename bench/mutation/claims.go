package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

//go:embed claims.txt
var claimsText string

// A claim is a promise in the documentation, with the tests that verify it.
type claim struct {
	page, promise string
	tests, fuzz   []function
	mutants       []string // their keys
	codes         []string // conditions of cases in the corpus
}

// A function is a test or a fuzz target in a package. The path of the package is relative to the
// module.
type function struct{ pkg, name string }

// parseClaims parses claims.txt. The file itself describes its format.
func parseClaims(text string) (list []claim, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		kind, rest, ok := strings.Cut(line, ": ")
		page := strings.HasSuffix(kind, ".md")
		if !ok || !page && len(list) == 0 {
			return nil, fmt.Errorf("claims.txt: unknown line %q", line)
		}
		if page {
			list = append(list, claim{page: kind, promise: rest})
			continue
		}
		words := strings.Fields(rest)
		switch c := &list[len(list)-1]; kind {
		case "test":
			c.tests = append(c.tests, functions(words)...)
		case "fuzz":
			c.fuzz = append(c.fuzz, functions(words)...)
		case "mutant":
			c.mutants = append(c.mutants, rest)
		case "corpus":
			c.codes = words
		default:
			return nil, fmt.Errorf("claims.txt: unknown line %q", line)
		}
	}
	return list, nil
}

func functions(words []string) (list []function) {
	for _, name := range words[1:] {
		list = append(list, function{words[0], name})
	}
	return list
}

// check returns everything that a claim mentions but that does not exist.
func (c *claim) check(root string, mutants []mutant) error {
	var errs []error
	if text, err := os.ReadFile(filepath.Join(root, c.page)); err != nil {
		errs = append(errs, err)
	} else if !strings.Contains(string(text), c.promise) {
		errs = append(errs, fmt.Errorf("%s does not contain %q: was it reworded?", c.page, c.promise))
	}
	if len(c.tests) == 0 {
		errs = append(errs, fmt.Errorf("no test holds %q", c.promise))
	}
	for _, f := range slices.Concat(c.tests, c.fuzz) {
		if !f.exists(root) {
			errs = append(errs, fmt.Errorf("%s has no %s, which holds %q", f.pkg, f.name, c.promise))
		}
	}
	for _, key := range c.mutants {
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return m.key() == key }) {
			errs = append(errs, fmt.Errorf("no mutant is %q: was the code changed?", key))
		}
	}
	return errors.Join(errs...)
}

func (f function) exists(root string) bool {
	files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(f.pkg), "*_test.go"))
	head := regexp.MustCompile(`(?m)^func ` + f.name + `\(`)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && head.Match(text)
	})
}

// broken returns all mutants in claims, each with its claim.
func broken(root string, claims []claim) (list []mutant, of []*claim, err error) {
	for i := range claims {
		for _, key := range claims[i].mutants {
			file, _, _ := strings.Cut(key, ": ")
			path := filepath.Join(root, filepath.FromSlash(file))
			source, err := os.ReadFile(path)
			if err != nil {
				return nil, nil, err
			}
			found, err := find(file, source)
			if err != nil {
				return nil, nil, err
			}
			for _, m := range found {
				if m.key() == key {
					m.pkg, m.path = filepath.ToSlash(filepath.Dir(file)), path
					list, of = append(list, m), append(of, &claims[i])
				}
			}
		}
	}
	return list, of, nil
}

// runClaims tries every mutant in the claims, and reports the mutants that survive the tests of
// their claim. If several places have the same key, the tests must kill at least one of the
// mutants.
func runClaims(root string, claims []claim, timeout time.Duration) error {
	list, of, err := broken(root, claims)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	dead := map[string]bool{}
	for i, m := range list {
		if dead[m.key()] {
			continue
		}
		o, err := m.tryTests(root, dir, timeout, of[i].commands())
		if err != nil {
			return err
		}
		dead[m.key()] = o == killed
	}
	survivors := 0
	for _, c := range claims {
		for _, key := range c.mutants {
			if !dead[key] {
				survivors++
				fmt.Printf("survived    %s: %s\n", key, c.promise)
			}
		}
	}
	fmt.Printf("%d claims, %d mutants of them, %d survive\n", len(claims), len(dead), survivors)
	if survivors > 0 {
		return errSurvived
	}
	return nil
}

var errSurvived = errors.New("a claim holds although its mutant breaks it")

// commands returns the arguments of "go test" that run the tests in the main module.
func (c *claim) commands() (list [][]string) {
	names := map[string][]string{}
	var packages []string
	for _, f := range c.tests {
		if names[f.pkg] == nil {
			packages = append(packages, f.pkg)
		}
		names[f.pkg] = append(names[f.pkg], f.name)
	}
	for _, pkg := range packages {
		if pkg != "." && !strings.HasPrefix(pkg, "bench/") {
			list = append(list, []string{"-run", "^(" + strings.Join(names[pkg], "|") + ")$", "./" + pkg})
		}
	}
	return list
}

// table returns docs/claims.md.
func table(root string, claims []claim) (string, error) {
	cases, err := casesByCode(filepath.Join(root, "fixtures", "corpus", "MANIFEST.json"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(`<!-- Written by go generate in bench/ from bench/mutation/claims.txt -->

# Claims

This reference lists promises of the documentation, and the evidence for each: tests, a change of the code that breaks the promise and makes these tests fail, fuzz targets, and cases of [the corpus](../fixtures/corpus/README.md). A test fails if a listed item does not exist, and ` + "`cd bench && go run ./mutation -claims`" + ` makes each change and runs the tests.

| Promise | Tests | Change | Fuzz targets | Cases |
|---|---|---|---|---:|
`)
	for _, c := range claims {
		count := 0
		for _, code := range c.codes {
			count += cases[code]
		}
		number := ""
		if count > 0 {
			number = fmt.Sprint(count)
		}
		link := strings.TrimPrefix(c.page, "docs/")
		if link == c.page {
			link = "../" + c.page
		}
		fmt.Fprintf(&b, "| [%s](%s): %s | %s | %s | %s | %s |\n", c.page, link, cell(c.promise), joined(c.tests), changes(c.mutants), joined(c.fuzz), number)
	}
	b.WriteString("\n" + sweeps)
	return b.String(), nil
}

// sweeps lists the tests that CI runs only in part, with the commands that run them completely.
//
//go:embed sweeps.md
var sweeps string

// cell formats text for a table cell.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "**", ""), "|", `\|`)
}

func joined(list []function) string {
	last, text := "", ""
	for _, f := range list {
		if f.pkg != last {
			text += " `" + f.pkg + "`"
			last = f.pkg
		}
		text += " " + f.name
	}
	return strings.TrimSpace(text)
}

func changes(keys []string) string {
	var list []string
	for _, key := range keys {
		list = append(list, "`"+cell(key)+"`")
	}
	return strings.Join(list, "<br>")
}

// casesByCode counts the cases in the corpus by expected code.
func casesByCode(path string) (map[string]int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var manifest struct {
		Vectors []struct{ Expected struct{ Code string } }
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, fmt.Errorf("reading the manifest of the corpus: %w", err)
	}
	counts := map[string]int{}
	for _, v := range manifest.Vectors {
		counts[v.Expected.Code]++
	}
	return counts, nil
}
