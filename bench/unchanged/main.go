// Command unchanged checks that this tree still provides everything on which programs could rely in
// an older commit:
//
//	go run ./unchanged COMMIT
//
// It compares the commands and flags with their types and defaults (docs/cli.txt), the codes
// (docs/codes.md), and the members of the JSON Schemas. In the scripts of the command, it compares
// the exit code of each command line, the member names in the printed JSON, and each code with its
// pointer. It prints everything that is missing or different. If there is any difference, it exits
// with code 1. Additions are only counted.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: unchanged COMMIT")
		os.Exit(2)
	}

	before, err := committed(os.Args[1])
	now, nowErr := current("..")
	if err = errors.Join(err, nowErr); err != nil {
		fmt.Fprintf(os.Stderr, "unchanged: error: %v\n", err)
		os.Exit(2)
	}
	if compare(os.Stdout, before, now) > 0 {
		os.Exit(1)
	}
}

// roots lists the files and directories that are compared.
var roots = []string{"docs/cli.txt", "docs/codes.md", "schemas", "cmd/receipt/testdata"}

// A tree contains files, indexed by path.
type tree map[string]string

// committed returns the compared files in a commit.
func committed(commit string) (tree, error) {
	cmd := exec.Command("git", append([]string{"archive", commit, "--"}, roots...)...)
	cmd.Dir, cmd.Stderr = "..", os.Stderr
	archive, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git archive %s: %w", commit, err)
	}

	files := tree{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files[h.Name] = string(text)
	}
}

// current returns the compared files in the working tree in dir.
func current(dir string) (tree, error) {
	cmd := exec.Command("git", append([]string{"ls-files", "-z", "--"}, roots...)...)
	cmd.Dir = dir
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}

	files := tree{}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files[name] = string(text)
	}
	return files, nil
}

// A kind is a category of facts, which are compared as a set. A fact consists of an identity and a
// value, which may be empty.
type kind struct {
	name  string
	facts func(tree) map[string]string
}

var kinds = []kind{
	{"commands and flags", flags},
	{"codes", codes},
	{"members of schemas", schemaMembers},
	{"exit codes", exitCodes},
	{"members of printed JSON", printedMembers},
	{"codes with pointers", pointers},
}

// compare prints the facts that are missing or different, and returns how many there are.
func compare(w io.Writer, before, now tree) (differences int) {
	for _, k := range kinds {
		was, is := k.facts(before), k.facts(now)
		if len(was) == 0 {
			fmt.Fprintf(w, "%s: none before\n", k.name)
			differences++
			continue
		}

		lost := 0
		for _, id := range slices.Sorted(maps.Keys(was)) {
			value, ok := is[id]
			switch {
			case !ok:
				fmt.Fprintf(w, "missing: %s\n", id)
				lost++
			case value != was[id]:
				fmt.Fprintf(w, "different: %s: %s before, %s now\n", id, was[id], value)
				lost++
			}
		}
		fmt.Fprintf(w, "%s: %d before, %d missing or different, %d now\n", k.name, len(was), lost, len(is))
		differences += lost
	}
	return differences
}

// flags returns the commands and the flags of each command, with the flags' types and defaults.
func flags(t tree) map[string]string {
	found, command := map[string]string{}, ""
	lines := strings.Split(t["docs/cli.txt"], "\n")
	for _, line := range lines[min(1, len(lines)):] {
		name, value, isFlag := strings.Cut(line, " ")
		if flag, ok := strings.CutPrefix(line, "  --"); ok {
			name, value, isFlag = strings.Cut(flag, " ")
			found[command+" --"+name] = value
		} else if isFlag || name != "" {
			command = commandName(line)
			found[command] = ""
		}
	}
	return found
}

// commandName returns the words of a command line that name the command, without the arguments.
func commandName(line string) string {
	var words []string
	for word := range strings.FieldsSeq(line) {
		if strings.ToLower(word) != word || strings.ContainsAny(word, "[(|-…") {
			break
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// codes returns the codes, each with its effect on the verdict.
func codes(t tree) map[string]string {
	found := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9_]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(t["docs/codes.md"], -1) {
		found[m[1]] = m[2]
	}
	return found
}

var member = regexp.MustCompile(`"([A-Za-z_$][A-Za-z0-9_$]*)" ?:`)

// schemaMembers returns the names of the members in each schema.
func schemaMembers(t tree) map[string]string {
	found := map[string]string{}
	for name, text := range t {
		if !strings.HasPrefix(name, "schemas/") || !strings.HasSuffix(name, ".schema.json") {
			continue
		}
		for _, m := range member.FindAllStringSubmatch(text, -1) {
			found[path.Base(name)+" "+m[1]] = ""
		}
	}
	return found
}

// scripts yields the scripts of the command.
func scripts(t tree) func(yield func(name, text string) bool) {
	return func(yield func(name, text string) bool) {
		for name, text := range t {
			if strings.HasPrefix(name, "cmd/receipt/testdata/") && strings.HasSuffix(name, ".txtar") && !yield(path.Base(name), text) {
				return
			}
		}
	}
}

// exitCodes returns the expected exit codes of the command lines in each script, in order.
func exitCodes(t tree) map[string]string {
	found := map[string]string{}
	for name, text := range scripts(t) {
		for _, m := range regexp.MustCompile(`(?m)^exits (\d+) (receipt .*)$`).FindAllStringSubmatch(text, -1) {
			found[name+": "+m[2]] += m[1]
		}
	}
	return found
}

// printedMembers returns the member names in the JSON that the scripts contain.
func printedMembers(t tree) map[string]string {
	found := map[string]string{}
	for _, text := range scripts(t) {
		for _, m := range member.FindAllStringSubmatch(text, -1) {
			found[m[1]] = ""
		}
	}
	return found
}

// pointers returns each pair of a code and a pointer in the JSON that a script contains.
func pointers(t tree) map[string]string {
	found := map[string]string{}
	for name, text := range scripts(t) {
		for _, m := range regexp.MustCompile(`"code":"([a-z0-9_]+)","pointer":"([^"]*)"`).FindAllStringSubmatch(text, -1) {
			found[fmt.Sprintf("%s: %s at %q", name, m[1], m[2])] = ""
		}
	}
	return found
}
