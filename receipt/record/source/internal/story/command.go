package story

import (
	"path"
	"slices"
	"strings"
)

// Hints contains the Git actions and the test runs in the text of a shell command, each listed once
// and in order. They are not evidence of actions, because the command may have failed, and a word
// may have a different meaning on that machine. A hint is never recorded as an effect.
type Hints struct {
	Git   []string // commit, push, or force_push
	Tests []string // the first words of the test runner's command, such as "go test"
}

// maxText is the maximum length of the command text that is examined.
const maxText = 16 << 10

// HintsIn returns the hints in a shell command.
func HintsIn(text string) (h Hints) {
	// Each hint is returned once, in the order of the text.
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

// bare removes the words that may precede the name of the program: assignments, shell keywords, and
// programs that run another program.
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

// gitOf returns the action of a git command, or "" for other commands.
func gitOf(words []string) string {
	if len(words) == 0 || path.Base(words[0]) != "git" {
		return ""
	}
	rest := words[1:]

	// Options for git itself precede the action.
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
		if takesValue := rest[0] == "-C" || rest[0] == "-c" || rest[0] == "--git-dir" || rest[0] == "--work-tree"; takesValue && len(rest) > 1 {
			rest = rest[1:]
		}
		rest = rest[1:]
	}

	// Neither a dry run nor a request for help changes anything.
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

// forces reports whether an argument of git push overwrites history.
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

// runners lists the commands that run tests, by their first words.
func runners() []string {
	return []string{
		"go test", "gotestsum", "cargo test", "cargo nextest", "pytest", "py.test", "tox", "npm test", "npm t", "npm run test", "yarn test", "pnpm test", "bun test",
		"npx jest", "npx vitest", "npx playwright", "jest", "vitest", "make test", "make check", "mvn test", "mvn verify", "gradle test", "gradlew test",
		"dotnet test", "bundle exec rspec", "rspec", "rake test", "phpunit", "mix test", "swift test", "ctest", "bazel test", "mise run test", "just test", "deno test",
	}
}

// testOf returns the test runner with which a command begins, or "" for other commands.
func testOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	words = slices.Clone(words)
	words[0] = path.Base(words[0])

	// The runner may be a Python module.
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

// A splitter divides text into simple commands and the commands into words, like a shell but
// without expansions. Quoted text is one word, so that, for example, a commit message is not
// mistaken for words of the command.
type splitter struct {
	commands [][]string
	words    []string
	word     strings.Builder
	inWord   bool
	ends     []string // delimiters of here-documents that begin on the next line
}

// split returns the simple commands in text.
func split(text string) [][]string {
	var s splitter
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"':
			i = s.quoted(text, i)
		case '\\':
			if i++; i < len(text) && text[i] != '\n' {
				s.add(text[i])
			}
		case ' ', '\t', '\r':
			s.endWord()
		case '\n':
			s.endCommand()
			i = s.skipDocuments(text, i)
		case ';', '|', '&', '(', ')', '`':
			s.endCommand()

		// A here-document begins after the line. The delimiter is not a word of the command.
		case '<':
			if delimiter, end := document(text, i); delimiter != "" {
				s.endWord()
				s.ends = append(s.ends, delimiter)
				i = end
			}

		// A comment begins with a word that begins with "#".
		case '#':
			if s.inWord {
				s.add(c)
				continue
			}
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		default:
			s.add(c)
		}
	}
	s.endCommand()
	return s.commands
}

func (s *splitter) add(c byte) { s.inWord = true; s.word.WriteByte(c) }

func (s *splitter) endWord() {
	if s.inWord {
		s.words = append(s.words, s.word.String())
		s.word.Reset()
		s.inWord = false
	}
}

func (s *splitter) endCommand() {
	if s.endWord(); len(s.words) > 0 {
		s.commands = append(s.commands, s.words)
		s.words = nil
	}
}

// quoted reads a quoted part of a word, and returns the offset of its end.
func (s *splitter) quoted(text string, from int) int {
	s.inWord = true
	for i := from + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == text[from]:
			return i
		case c == '\\' && text[from] == '"' && i+1 < len(text):
			i++
			s.add(text[i])
		default:
			s.add(c)
		}
	}

	return len(text)
}

// document returns the delimiter of the here-document that begins at the given offset, and the
// offset of the delimiter's end, or "" if no here-document begins there.
func document(text string, at int) (delimiter string, end int) {
	rest, ok := strings.CutPrefix(text[at:], "<<")
	if !ok || strings.HasPrefix(rest, "<") {
		return "", at
	}
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "-"), " \t")
	word := rest
	if n := strings.IndexAny(rest, " \t\n;|&)"); n >= 0 {
		word = rest[:n]
	}

	return strings.Trim(word, `'"\`), len(text) - len(rest) + len(word) - 1
}

// skipDocuments returns the end of the here-documents that begin after the end of a line.
func (s *splitter) skipDocuments(text string, at int) int {
	for _, delimiter := range s.ends {
		for {
			line, _, more := strings.Cut(text[min(at+1, len(text)):], "\n")
			if at += len(line) + 1; !more || strings.TrimSpace(line) == delimiter {
				break
			}
		}
	}
	s.ends = nil
	return min(at, len(text))
}
