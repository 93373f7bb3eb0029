package command

import (
	"path"
	"slices"
	"strings"
)

// Hints are the git actions and the test runs that a text names, each once, in its order.
type Hints struct {
	Git   []string // commit, push, or force_push
	Tests []string // the first words of the test runner, such as "go test"
}

// maxText bounds how much of a command is read.
const maxText = 16 << 10

// Of returns the hints of a shell command.
func Of(text string) (h Hints) {
	for _, words := range split(text[:min(len(text), maxText)]) {
		words = bare(words)
		if action := gitOf(words); action != "" && !slices.Contains(h.Git, action) {
			h.Git = append(h.Git, action)
		}
		if test := testOf(words); test != "" && !slices.Contains(h.Tests, test) {
			h.Tests = append(h.Tests, test)
		}
	}
	return h
}

// bare removes what may precede the program: assignments, and programs that run another.
func bare(words []string) []string {
	for len(words) > 0 {
		switch w := path.Base(words[0]); {
		case strings.Contains(w, "=") && !strings.HasPrefix(w, "-"),
			slices.Contains([]string{"env", "sudo", "time", "nohup", "exec", "command", "then", "do", "else", "if", "while", "!", "{", "("}, w):
			words = words[1:]
		default:
			return words
		}
	}
	return nil
}

// gitOf is the action of a call of git; "" for others.
func gitOf(words []string) string {
	if len(words) == 0 || path.Base(words[0]) != "git" {
		return ""
	}
	rest := words[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") { // options of git itself
		if takesValue := rest[0] == "-C" || rest[0] == "-c" || rest[0] == "--git-dir" || rest[0] == "--work-tree"; takesValue && len(rest) > 1 {
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	if len(rest) == 0 || slices.Contains(rest, "--dry-run") || slices.Contains(rest, "--help") {
		return ""
	}
	switch rest[0] {
	case "commit":
		return "commit"
	case "push":
		if slices.ContainsFunc(rest[1:], forces) {
			return "force_push"
		}
		return "push"
	}
	return ""
}

// forces reports whether an argument of git push overwrites what is there.
func forces(arg string) bool {
	long, short := strings.HasPrefix(arg, "--"), strings.HasPrefix(arg, "-")
	switch {
	case long:
		return strings.HasPrefix(arg, "--force") || arg == "--mirror"
	case short:
		return strings.Contains(arg, "f")
	}
	return strings.HasPrefix(arg, "+")
}

// runners are programs that run tests, by the words with which a command begins.
func runners() []string {
	return []string{
		"go test", "gotestsum", "cargo test", "cargo nextest", "pytest", "py.test", "tox", "npm test", "npm t", "npm run test", "yarn test", "pnpm test", "bun test",
		"npx jest", "npx vitest", "npx playwright", "jest", "vitest", "make test", "make check", "mvn test", "mvn verify", "gradle test", "gradlew test",
		"dotnet test", "bundle exec rspec", "rspec", "rake test", "phpunit", "mix test", "swift test", "ctest", "bazel test", "mise run test", "just test", "deno test",
	}
}

// testOf is the runner of tests with which a command begins; "" for others.
func testOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	words = slices.Clone(words)
	words[0] = path.Base(words[0])
	if len(words) > 2 && strings.HasPrefix(words[0], "python") && words[1] == "-m" {
		words = words[2:]
	}
	for _, r := range runners() {
		of := strings.Fields(r)
		if len(words) < len(of) {
			continue
		}
		last := len(of) - 1
		name, _, _ := strings.Cut(words[last], ":") // test:unit
		if slices.Equal(words[:last], of[:last]) && name == of[last] {
			return r
		}
	}
	return ""
}
