// Command mutation changes one condition in the verify path at a time and runs the tests. A mutant
// that survives shows that no test covers the check. The tree itself is never edited (go test
// -overlay). See ../README.md.
//
//	go run ./mutation -n 200 -seed 1              # 200 random mutants
//	go run ./mutation -packages redact -n 50      # of one package
//	go run ./mutation -list                       # list the possible mutants
//	go run ./mutation -claims                     # the mutants of docs/claims.md
//
// Exit codes: 0 if all surviving mutants are listed in equivalent.txt, 1 if others survive, 2 if
// the command could not run.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// These packages form the verify path.
const packages = "canon chain merkle merkle/tlog redact schemas receipt receipt/keys receipt/stream receipt/stream/internal/input receipt/stream/internal/survey receipt/archive"

func dependents(pkg string) []string {
	return map[string][]string{
		"canon":                          {"chain", "receipt"},
		"chain":                          {"receipt", "receipt/stream"},
		"merkle":                         {"merkle/tlog", "receipt/batch", "receipt/stream"},
		"merkle/tlog":                    {"receipt", "receipt/keys", "receipt/stream"},
		"receipt":                        {"receipt/stream"},
		"receipt/stream/internal/input":  {"receipt/stream"},
		"receipt/stream/internal/survey": {"receipt/stream"},
		"receipt/keys":                   {"receipt"},
	}[pkg]
}

// equivalent contains one line for each mutant that no test can kill, with the reason.
//
//go:embed equivalent.txt
var equivalent string

func main() {
	list := flag.String("packages", packages, "`packages` to change, separated by spaces")
	n := flag.Int("n", 100, "how many mutants; 0: all")
	seed := flag.Uint64("seed", 1, "which of them")
	timeout := flag.Duration("timeout", 3*time.Minute, "limit for the tests of one mutant, which is killed then")
	limit := flag.Duration("limit", 0, "stop after this time; 0: never")
	only := flag.Bool("list", false, "list the possible changes, and stop")
	ofClaims := flag.Bool("claims", false, "make the mutants of docs/claims.md, and run the tests of each claim")
	page := flag.String("page", "", "write docs/claims.md to `FILE`, and stop")
	root := flag.String("root", "..", "the `folder` of the module")
	flag.Parse()

	if *ofClaims || *page != "" {
		os.Exit(exit(claims(*root, *page, *timeout)))
	}
	mutants, err := findAll(*root, strings.Fields(*list))
	if err != nil || len(mutants) == 0 {
		fmt.Fprintf(os.Stderr, "mutation: %d mutants: %v\n", len(mutants), err)
		os.Exit(2)
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	r.Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
	if *n > 0 && !*only {
		mutants = mutants[:min(*n, len(mutants))]
	}
	if *only {
		for _, m := range mutants {
			fmt.Println(m)
		}
		return
	}
	os.Exit(run(*root, mutants, *timeout, *limit))
}

// claims writes docs/claims.md, or tries the mutants in the claims.
func claims(root, page string, timeout time.Duration) error {
	list, err := parseClaims(claimsText)
	if err != nil {
		return err
	}
	if page == "" {
		return runClaims(root, list, timeout)
	}
	text, err := table(root, list)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(text), 0o644)
}

func exit(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errSurvived):
		return 1
	}
	fmt.Fprintf(os.Stderr, "mutation: %v\n", err)
	return 2
}

func run(root string, mutants []mutant, timeout, limit time.Duration) int {
	began := time.Now()
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		fmt.Fprintf(os.Stderr, "mutation: %v\n", err)
		return 2
	}
	defer os.RemoveAll(dir)
	counts, unknown := map[outcome]int{}, 0
	for _, m := range mutants {
		if limit > 0 && time.Since(began) > limit {
			break
		}
		o, err := m.try(root, dir, timeout)
		if err != nil {
			fmt.Fprintf(os.Stderr, "mutation: %s: %v\n", m, err)
			return 2
		}
		counts[o]++
		if o != survived {
			continue
		}
		if reason := explained(m); reason != "" {
			fmt.Printf("equivalent  %s: %s\n", m, reason)
		} else {
			unknown++
			fmt.Printf("survived    %s\n", m)
		}
	}
	valid := counts[killed] + counts[survived]
	fmt.Printf("%d mutants, %d do not compile; %d of %d killed, %d survive, %d of them unexplained, in %v\n",
		valid+counts[invalid], counts[invalid], counts[killed], valid, counts[survived], unknown, time.Since(began).Round(time.Second))
	if unknown > 0 {
		return 1
	}
	return 0
}

// explained returns the reason that is recorded for an equivalent mutant. The lines have the form
// "FILE: OPERATOR: CODE: reason", which does not depend on the position of the code in the file.
func explained(m mutant) string {
	for line := range strings.Lines(equivalent) {
		if reason, ok := strings.CutPrefix(strings.TrimSpace(line), m.key()+": "); ok {
			return reason
		}
	}
	return ""
}

// slash returns a path relative to the module, with forward slashes.
func slash(root, path string) string {
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}
