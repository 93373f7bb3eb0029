// Command mutation changes one condition in the verify path at a time and runs the tests. A mutant
// that survives shows that no test covers the check. All mutants of a package are compiled into one
// set of test binaries, and an environment variable selects the active one. The tree itself is
// never edited (go test -overlay). See ../README.md.
//
//	go run ./mutation -n 200 -seed 1              # 200 random mutants
//	go run ./mutation -packages redact -n 50      # of one package
//	go run ./mutation -match hash.go:55 -run Hash # of one line, with some tests
//	go run ./mutation -list                       # list the possible mutants
//	go run ./mutation -claims                     # the mutants of docs/claims.md
//
// Exit codes: 0 if all surviving mutants are listed in equivalent.txt, 1 if others survive, 2 if
// the command could not run.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
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
		"receipt":                        {"receipt/stream", "internal/foreign"},
		"receipt/stream":                 {"internal/join"},
		"receipt/stream/internal/input":  {"receipt/stream"},
		"receipt/stream/internal/survey": {"receipt/stream", "internal/join"},
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
	match := flag.String("match", "", "only mutants whose line in the output of -list matches this `REGEXP`")
	tests := flag.String("run", "", "only tests with names that match this `REGEXP`")
	jobs := flag.Int("jobs", 1, "how many mutants to run at a time")
	limit := flag.Duration("limit", 0, "stop after this time; 0: never")
	only := flag.Bool("list", false, "list the possible changes, and stop")
	ofClaims := flag.Bool("claims", false, "make the mutants of docs/claims.md, and run the tests of each claim")
	page := flag.String("page", "", "write docs/claims.md to `FILE`, and stop")
	root := flag.String("root", "..", "the `folder` of the module")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if *limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, *limit)
		defer cancel()
	}

	matching, err := regexp.Compile(*match)
	wanted, err2 := regexp.Compile(*tests)
	if err := errors.Join(err, err2); err != nil {
		os.Exit(exit(err))
	}
	if *ofClaims || *page != "" {
		os.Exit(exit(claims(ctx, *root, *page, matching)))
	}
	mutants, err := findAll(*root, strings.Fields(*list))
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !matching.MatchString(m.String()) })
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
	os.Exit(run(ctx, *root, mutants, wanted, *jobs))
}

// claims writes docs/claims.md, or tries the mutants in the claims.
func claims(ctx context.Context, root, page string, matching *regexp.Regexp) error {
	list, err := parseClaims(claimsText)
	if err != nil {
		return err
	}
	if page == "" {
		return runClaims(ctx, root, list, matching)
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

// run tries the mutants, one package after the other, and reports those that survive.
func run(ctx context.Context, root string, mutants []mutant, wanted *regexp.Regexp, jobs int) int {
	began := time.Now()
	r := report{counts: map[outcome]int{}}
	failed := false
	for _, list := range byPackage(mutants) {
		if err := r.tryAll(ctx, root, list, wanted, jobs); err != nil && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "mutation: %s: %v\n", list[0].pkg, err)
			failed = true
		}
	}
	survivors := r.counts[survived] + r.counts[unreached]
	valid := r.counts[killed] + survivors
	if rest := len(mutants) - valid - r.counts[invalid]; rest > 0 {
		fmt.Printf("stopped; %d mutants were not tried\n", rest)
	}
	fmt.Printf("%d mutants, %d do not compile; %d of %d killed, %d survive, %d of them unexplained, in %v\n",
		valid+r.counts[invalid], r.counts[invalid], r.counts[killed], valid, survivors, r.unexplained, time.Since(began).Round(time.Second))
	switch {
	case failed:
		return 2
	case r.unexplained > 0:
		return 1
	}
	return 0
}

// byPackage splits the list by package and keeps the order.
func byPackage(mutants []mutant) (lists [][]mutant) {
	index := map[string]int{}
	for _, m := range mutants {
		i, ok := index[m.pkg]
		if !ok {
			i = len(lists)
			index[m.pkg], lists = i, append(lists, nil)
		}
		lists[i] = append(lists[i], m)
	}
	return lists
}

// A report counts the outcomes of a run.
type report struct {
	mu          sync.Mutex
	counts      map[outcome]int
	unexplained int
}

// tryAll tries mutants of one package with the wanted short tests of this package and of its
// dependents.
func (r *report) tryAll(ctx context.Context, root string, list []mutant, wanted *regexp.Regexp, jobs int) error {
	pkg := list[0].pkg
	s, err := newSuite(ctx, root, list, append([]string{pkg}, dependents(pkg)...), true, func(_, name string) bool { return wanted.MatchString(name) })
	if err != nil {
		return err
	}
	defer s.close()
	var all sync.WaitGroup
	free := make(chan struct{}, max(jobs, 1))
	errs := make([]error, len(list))
	for i, m := range list {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			o, err := s.try(ctx, m, s.tests)
			if errs[i] = err; err == nil {
				r.add(m, o)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (r *report) add(m mutant, o outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[o]++
	if o != survived && o != unreached {
		return
	}
	if reason := explained(m); reason != "" {
		fmt.Printf("equivalent  %s: %s\n", m, reason)
		return
	}
	r.unexplained++
	if o == unreached {
		fmt.Printf("survived    %s (not reached)\n", m)
	} else {
		fmt.Printf("survived    %s\n", m)
	}
}

// explained returns the reason that is recorded for an equivalent mutant, or "".
func explained(m mutant) string {
	for line := range strings.Lines(equivalent) {
		if reason, ok := m.explained(strings.TrimSpace(line)); ok {
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
