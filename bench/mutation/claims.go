package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
			if slices.ContainsFunc(list, func(c claim) bool { return slices.Contains(c.mutants, rest) }) {
				return nil, fmt.Errorf("claims.txt: the mutant %q is named twice, but it is tried only once", rest)
			}
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

// broken returns all mutants in claims.
func broken(root string, claims []claim) ([]mutant, error) {
	var packages []string
	keys := map[string]bool{}
	for _, c := range claims {
		for _, key := range c.mutants {
			keys[key] = true
			file, _, _ := strings.Cut(key, ": ")
			if pkg := path.Dir(file); !slices.Contains(packages, pkg) {
				packages = append(packages, pkg)
			}
		}
	}
	all, err := findAll(root, packages)
	return slices.DeleteFunc(all, func(m mutant) bool { return !keys[m.key()] }), err
}

// runClaims tries every matching mutant in the claims, and reports the mutants that survive the
// tests of their claim. If several places have the same key, the tests must kill at least one of
// the mutants.
func runClaims(ctx context.Context, root string, claims []claim, matching *regexp.Regexp) error {
	all, err := broken(root, claims)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(m mutant) bool { return !matching.MatchString(m.String()) })
	dead := map[string]bool{}
	for _, list := range byPackage(all) {
		if err := tryClaims(ctx, root, list, claims, dead); err != nil {
			return err
		}
	}
	survivors := 0
	for _, c := range claims {
		for _, key := range c.mutants {
			if killed, tried := dead[key]; tried && !killed {
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

// tryClaims tries mutants of one package, and adds the keys of killed mutants to dead.
func tryClaims(ctx context.Context, root string, list []mutant, claims []claim, dead map[string]bool) error {
	var tests []function
	var packages []string
	for _, c := range claims {
		if !slices.ContainsFunc(list, func(m mutant) bool { return slices.Contains(c.mutants, m.key()) }) {
			continue
		}
		for _, f := range c.runnable() {
			tests = append(tests, f)
			if !slices.Contains(packages, f.pkg) {
				packages = append(packages, f.pkg)
			}
		}
	}
	s, err := newSuite(ctx, root, list, packages, false, func(pkg, name string) bool {
		return slices.Contains(tests, function{pkg, name})
	})
	if err != nil {
		return err
	}
	defer s.close()
	for _, m := range list {
		for _, c := range claims {
			if dead[m.key()] || !slices.Contains(c.mutants, m.key()) {
				continue
			}
			var selected []*test
			for _, t := range s.tests {
				if slices.Contains(c.runnable(), function{t.pkg, t.name}) {
					selected = append(selected, t)
				}
			}
			o, err := s.try(ctx, m, selected)
			if err != nil {
				return err
			}
			dead[m.key()] = o == killed
		}
	}
	return nil
}

var errSurvived = errors.New("a claim holds although its mutant breaks it")

// runnable returns the tests that contain the code of the main module.
func (c *claim) runnable() []function {
	return slices.DeleteFunc(slices.Clone(c.tests), func(f function) bool {
		return f.pkg == "." || strings.HasPrefix(f.pkg, "bench/")
	})
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
