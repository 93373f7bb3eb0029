package input

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
)

// absent returns a hint for a path that does not exist, with the path that was probably intended.
func absent(path string) string {
	switch bare := strings.Trim(path, `'"`); {
	case path == "":
		return "the path is empty: perhaps a variable that is not set"
	case path == "help":
		return "to describe a command, use receipt help COMMAND, or add --help"
	case strings.HasPrefix(path, "~"):
		return "the shell replaces a ~ only at the start of a word without quotes: write the path in full"
	case bare != path && exists(bare):
		return "the quotes are part of the name: did you mean " + cli.ShellFile(bare) + "?"
	}

	if how := misnumbered(path); how != "" {
		return how
	}

	// The name is compared with the files in the same directory. A file with another number is
	// probably another part of the same set.
	dir, name := filepath.Split(path)
	if near := nearestName(name, namesIn(filepath.Clean(dir))); near != "" && unnumbered(near) != unnumbered(name) {
		return "did you mean " + cli.ShellFile(dir+near) + "?"
	}
	return "check the path; - reads stdin"
}

// nearestName returns the file that was probably intended, or "". An extension can be most of a
// name, so the names without extensions must be similar.
func nearestName(name string, names []string) string {
	var stems []string
	for _, n := range names {
		stems = append(stems, stem(n))
	}
	near := cli.Nearest(stem(name), stems)
	if near == "" {
		return ""
	}

	alike := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return stem(n) != near })
	if best := cli.Nearest(name, alike); best != "" {
		return best
	}
	return alike[0]
}

func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// unnumbered returns name without digits.
func unnumbered(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return path != "" && err == nil
}

// misnumbered returns a hint that lines or items of a file are addressed by number, starting at 1.
func misnumbered(path string) string {
	at := strings.LastIndexAny(path, ":#")
	if at <= 0 || !exists(path[:at]) {
		return ""
	}
	file := cli.ShellFile(path[:at])
	if n, err := strconv.ParseUint(path[at+1:], 10, 32); err == nil && n > 0 {
		return "did you mean " + file + ":" + strconv.FormatUint(n, 10) + "?"
	}
	return "lines and items are numbered from 1: " + file + ":1"
}

// namesIn returns the names of some files in a directory.
func namesIn(dir string) (names []string) {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()

	const most = 1000
	entries, _ := f.ReadDir(most) // the entries that were read are sufficient for a guess
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
