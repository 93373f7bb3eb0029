package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A suite is a package with all of its mutants, and the test binaries that contain it.
type suite struct {
	root, dir string
	short     bool // run the tests with -short
	mutants   []mutant
	packages  []string // packages with tests
	tests     []*test
}

// A test is a test function that passes if no mutant is active.
type test struct {
	pkg, name       string
	elapsed, worked time.Duration // worked is processor time
	reached         map[int]bool  // mutants whose code the test executes
}

// newSuite compiles the test binaries of the given packages with all mutants, which must belong to
// one package, and runs the wanted tests once.
func newSuite(ctx context.Context, root string, mutants []mutant, packages []string, short bool, wanted func(pkg, name string) bool) (s *suite, err error) {
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return nil, err
	}
	s = &suite{root: root, dir: dir, short: short, packages: packages}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.mutants, err = compilable(ctx, root, dir, mutants); err != nil {
		return s, err
	}
	overlay, err := writeOverlay(dir, s.mutants)
	if err != nil {
		return s, err
	}
	for _, pkg := range packages {
		if err := goTool(ctx, root, "test", "-c", "-vet=off", "-overlay", overlay, "-o", s.binary(pkg), "./"+pkg); err != nil {
			return s, err
		}
		if err := s.measure(ctx, pkg, wanted); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *suite) close() { os.RemoveAll(s.dir) }

func (s *suite) binary(pkg string) string {
	return filepath.Join(s.dir, strings.ReplaceAll(pkg, "/", "_")+".test")
}

// measure runs each wanted test of a package alone while no mutant is active. A test that fails,
// such as a test that counts allocations, is reported and not used.
func (s *suite) measure(ctx context.Context, pkg string, wanted func(pkg, name string) bool) error {
	list := exec.CommandContext(ctx, s.binary(pkg), "-test.list", ".")
	list.Dir = filepath.Join(s.root, filepath.FromSlash(pkg))
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("listing the tests of %s: %w", pkg, err)
	}
	for name := range strings.Lines(string(out)) {
		t := &test{pkg: pkg, name: strings.TrimSpace(name), elapsed: 10 * time.Minute, worked: 10 * time.Minute, reached: map[int]bool{}}
		if !slices.ContainsFunc([]string{"Test", "Fuzz", "Example"}, func(p string) bool { return strings.HasPrefix(t.name, p) }) || !wanted(pkg, t.name) {
			continue
		}
		record := filepath.Join(s.dir, "reached")
		if err := os.RemoveAll(record); err != nil {
			return err
		}
		began := time.Now()
		state, err := s.start(ctx, []*test{t}, "MUTANT_REACHED="+record)
		if err != nil {
			return err
		}
		if !state.Success() {
			fmt.Printf("not used    %s %s: fails if no mutant is active\n", pkg, t.name)
			continue
		}
		t.elapsed, t.worked = time.Since(began), state.UserTime()+state.SystemTime()
		text, err := os.ReadFile(record)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for line := range bytes.Lines(text) {
			if id, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil {
				t.reached[id] = true
			}
		}
		s.tests = append(s.tests, t)
	}
	return nil
}

// An outcome is the result of trying a mutant.
type outcome int

const (
	killed outcome = iota
	survived
	unreached // survived, because no test executes the code
	invalid   // does not compile
)

// try runs the tests that may notice a mutant, first the ones that take little time.
func (s *suite) try(ctx context.Context, m mutant, tests []*test) (outcome, error) {
	if !slices.ContainsFunc(s.mutants, func(other mutant) bool { return other.id == m.id }) {
		return invalid, nil
	}
	result := unreached
	for _, limits := range [][2]time.Duration{{0, 50 * time.Millisecond}, {50 * time.Millisecond, 500 * time.Millisecond}, {500 * time.Millisecond, time.Hour}} {
		for _, pkg := range s.packages {
			var selected []*test
			for _, t := range tests {
				if t.pkg == pkg && t.reached[m.id] && limits[0] <= t.worked && t.worked < limits[1] {
					selected = append(selected, t)
				}
			}
			if len(selected) == 0 {
				continue
			}
			result = survived
			if state, err := s.start(ctx, selected, fmt.Sprintf("MUTANT=%d", m.id)); err != nil || !state.Success() {
				return killed, err
			}
		}
	}
	return result, nil
}

// limited runs a command with limits for processor time and memory, because a mutant may loop or
// allocate without end.
const limited = `ulimit -v 8000000; ulimit -t "$0"; exec "$@"`

// start runs tests of one package in a process group, which it kills in the end. The limits are a
// multiple of the usual duration. There is no -test.timeout, because its timer hides deadlocks from
// the Go runtime.
func (s *suite) start(ctx context.Context, tests []*test, env string) (*os.ProcessState, error) {
	tmp, err := os.MkdirTemp(s.dir, "run")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	var elapsed, worked time.Duration
	var names []string
	for _, t := range tests {
		elapsed, worked, names = elapsed+t.elapsed, worked+t.worked, append(names, t.name)
	}
	withLimit, cancel := context.WithTimeout(ctx, 5*elapsed+10*time.Second)
	defer cancel()
	pkg := tests[0].pkg
	cmd := exec.CommandContext(withLimit, "sh", "-c", limited, strconv.Itoa(int((3*worked).Seconds())+5), s.binary(pkg),
		"-test.failfast", "-test.short="+strconv.FormatBool(s.short), "-test.run=^("+strings.Join(names, "|")+")$")
	cmd.Dir = filepath.Join(s.root, filepath.FromSlash(pkg))
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, env)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	err = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	var exit *exec.ExitError
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && !errors.As(err, &exit) && withLimit.Err() == nil {
		return nil, err
	}
	return cmd.ProcessState, nil
}
