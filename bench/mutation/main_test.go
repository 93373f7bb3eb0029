package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const source = `package p

import "errors"

func Check(n int, ok bool) error {
	err := errors.New("no")
	if n < 3 && ok {
		return err
	}
	return nil
}
`

// TestFind verifies that each operator finds the places to which it applies.
func TestFind(t *testing.T) {
	list, err := find("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.operator)
	}
	const want = "never always left of && right of && compare <= no error"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRewrite verifies that each mutant of a rewritten file does what its operator says, and that
// the file behaves as before if no mutant is active.
func TestRewrite(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	write(t, root, map[string]string{"go.mod": "module m\n\ngo 1.26.0\n", "p/p.go": strings.NewReplacer("package p", "package main", `import "errors"`, `import ("cmp"; "errors"; "fmt")`).Replace(source) + `
func either(a, b bool) bool { return a || b }

func main() {
	bit := map[bool]string{false: "0", true: "1"}
	passes := map[error]string{nil: "0"}
	text := func(err error) string { return cmp.Or(passes[err], "1") }
	for _, n := range []int{2, 3, 4} {
		fmt.Print(text(Check(n, true)), text(Check(n, false)), " ")
	}
	fmt.Print(bit[either(false, false)], bit[either(false, true)], bit[either(true, false)], bit[either(true, true)])
}
`})
	list, err := findAll(root, []string{"p"})
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := writeOverlay(dir, list)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	if err := goTool(t.Context(), root, "build", "-overlay", overlay, "-o", program, "./p"); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"":            "10 00 00 0111",
		"never":       "00 00 00 0111",
		"always":      "11 11 11 0111",
		"left of &&":  "11 00 00 0111",
		"right of &&": "10 10 10 0111",
		"compare <=":  "10 10 00 0111",
		"no error":    "00 00 00 0111",
		"left of ||":  "10 00 00 0011",
		"right of ||": "10 00 00 0101",
	}
	for _, m := range append(list, mutant{}) {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), fmt.Sprintf("MUTANT=%d", m.id))
		got, err := cmd.CombinedOutput()
		if err != nil || string(got) != want[m.operator] {
			t.Errorf("%q prints %s, expected %s: %v", m.operator, got, want[m.operator], err)
		}
	}
	if len(list)+1 != len(want) {
		t.Errorf("%d mutants", len(list))
	}
}

// TestTry verifies that a mutant is killed if a test detects it and survives otherwise, that tests
// that fail anyway are not used, and that the file on disk does not change.
func TestTry(t *testing.T) {
	root := t.TempDir()
	text := source + "\nfunc unused(a, b bool) bool { return a || b }\n\ntype flag bool\n\nvar less = func(a, b int) flag { return a > b }\n"
	write(t, root, map[string]string{"go.mod": "module m\n\ngo 1.26.0\n", "p/p.go": text, "p/p_test.go": `package p

import "testing"

func Test(t *testing.T) {
	if Check(1, true) == nil || Check(9, true) != nil {
		t.Fail()
	}
}

func TestFails(t *testing.T) {
	t.Fatal(Check(1, false))
}
`})
	list, err := findAll(root, []string{"p"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSuite(t.Context(), root, list, []string{"p"}, true, func(_, _ string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if len(s.tests) != 1 || s.tests[0].name != "Test" {
		t.Errorf("the tests are %v", s.tests)
	}
	want := map[string]outcome{"never": killed, "always": killed, "left of &&": survived, "right of &&": killed, "compare <=": survived,
		"no error": killed, "left of ||": unreached, "right of ||": unreached, "compare >=": invalid}
	for _, m := range list {
		got, err := s.try(t.Context(), m, s.tests)
		if err != nil || got != want[m.operator] {
			t.Errorf("%s: outcome %d, expected %d: %v", m, got, want[m.operator], err)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(root, "p", "p.go")); string(b) != text || len(list) != len(want) {
		t.Errorf("%d mutants; the file is now %s", len(list), b)
	}
}

// TestEndless verifies that a mutant that loops, allocates, or waits without end is killed.
func TestEndless(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"go.mod": "module m\n\ngo 1.26.0\n", "p/p.go": `package p

func Loop(n int) {
	for n != 0 {
	}
}

func Allocate(n int) (list [][]byte) {
	for len(list) != n {
		list, n = append(list, make([]byte, 1<<30)), n+1
	}
	return list
}

func Wait(c chan int, n int) {
	if n > 0 {
		<-c
	}
}
`, "p/p_test.go": `package p

import "testing"

func TestLoop(t *testing.T) { Loop(0) }

func TestAllocate(t *testing.T) { Allocate(0) }

func TestWait(t *testing.T) { Wait(make(chan int), 0) }
`})
	list, err := findAll(root, []string{"p"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := newSuite(ctx, root, list, []string{"p"}, true, func(_, _ string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	endless := []string{"compare ==: n != 0", "compare ==: len(list) != n", "always: n > 0", "compare >=: n > 0"}
	for _, m := range list {
		want := slices.Contains(endless, m.operator+": "+m.old)
		if got, err := s.try(ctx, m, s.tests); err != nil || (got == killed) != want {
			t.Errorf("%s: outcome %d: %v", m, got, err)
		}
	}
	if len(list) != len(endless)+1 {
		t.Errorf("%d mutants", len(list))
	}
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEquivalent verifies that each entry in the list of equivalent mutants has an existing file,
// an operator, and a reason.
func TestEquivalent(t *testing.T) {
	all, err := findAll(filepath.Join("..", ".."), strings.Fields(packages))
	if err != nil || len(all) < 1000 {
		t.Fatal(len(all), err)
	}
	for line := range strings.Lines(equivalent) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		known := false
		for _, m := range all {
			reason, ok := m.explained(line)
			known = known || ok && reason != ""
		}
		if !known {
			t.Errorf("no mutant is %q: was the code changed?", line)
		}
	}
}
