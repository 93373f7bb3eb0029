package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// selector is the file that is added to a package with mutants. If MUTANT_REACHED names a file, it
// collects the mutants whose code is executed.
const selector = `package %s

import (
	"os"
	"strconv"
)

var (
	mutation_id, _   = strconv.Atoi(os.Getenv("MUTANT"))
	mutation_file, _ = os.OpenFile(os.Getenv("MUTANT_REACHED"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	mutation_seen    [%d]bool
)

func mutation_is(id int) bool {
	return id == mutation_id || mutation_file != nil && mutation_reached(id)
}

func mutation_reached(id int) bool {
	if !mutation_seen[id] {
		mutation_seen[id] = true
		mutation_file.WriteString(strconv.Itoa(id) + "\n")
	}
	return false
}
`

// rewrite returns a file that contains all mutants in the list.
func rewrite(source []byte, list []mutant) []byte {
	type insertion struct {
		at, order int
		text      string
	}
	var all []insertion
	for _, m := range list {
		active := fmt.Sprintf("mutation_is(%d)", m.id)
		// At the same position, places end before others begin, inner places end first, and
		// outer places begin first.
		all = append(all,
			insertion{m.start, m.id, strings.ReplaceAll(m.before, isActive, active)},
			insertion{m.end, -m.id, strings.ReplaceAll(m.after, isActive, active)})
	}
	slices.SortFunc(all, func(a, b insertion) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
	})
	var out []byte
	last := 0
	for _, i := range all {
		out = append(append(out, source[last:i.at]...), i.text...)
		last = i.at
	}
	return append(out, source[last:]...)
}

// writeOverlay writes the files of a package with mutants into dir, and returns the name of the
// overlay.
func writeOverlay(dir string, list []mutant) (string, error) {
	byPath, last := map[string][]mutant{}, 0
	for _, m := range list {
		byPath[m.path] = append(byPath[m.path], m)
		last = max(last, m.id)
	}
	replace := map[string]string{}
	put := func(path string, text []byte) error {
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		replace[path] = filepath.Join(dir, filepath.Base(path))
		return os.WriteFile(replace[path], text, 0o600)
	}
	for path, mutants := range byPath {
		source, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		tree, err := parser.ParseFile(token.NewFileSet(), path, source, parser.PackageClauseOnly)
		if err != nil {
			return "", err
		}
		added := filepath.Join(filepath.Dir(path), "mutation_selector.go")
		if err := errors.Join(put(path, rewrite(source, mutants)),
			put(added, fmt.Appendf(nil, selector, tree.Name, last+1))); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}

// compilable returns the mutants of a package without those that do not compile.
func compilable(ctx context.Context, root, dir string, list []mutant) ([]mutant, error) {
	if len(list) == 0 {
		return nil, nil
	}
	overlay, err := writeOverlay(dir, list)
	if err != nil {
		return nil, err
	}
	err = goTool(ctx, root, "build", "-overlay", overlay, "./"+list[0].pkg)
	if err == nil || ctx.Err() != nil {
		return list, ctx.Err()
	}
	if len(list) == 1 {
		return nil, nil
	}
	first, err := compilable(ctx, root, dir, list[:len(list)/2])
	if err != nil {
		return nil, err
	}
	second, err := compilable(ctx, root, dir, list[len(list)/2:])
	return slices.Concat(first, second), err
}

// goTool runs a go command. Its error contains the output.
func goTool(ctx context.Context, root string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(out))
	}
	return nil
}
