package command

import "strings"

// A splitter cuts a text into simple commands and these into words, as a shell does, except
// that nothing is expanded. Quoted text is one word, so that what a message says is none of
// the command's own words.
type splitter struct {
	commands [][]string
	words    []string
	word     strings.Builder
	inWord   bool
	ends     []string // delimiters of here-documents that begin on the next line
}

// split returns the simple commands of a text.
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
		case '<':
			if delimiter, end := document(text, i); delimiter != "" {
				s.endWord()
				s.ends = append(s.ends, delimiter)
				i = end
			}
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

// quoted reads a quoted part of a word and returns where it ends.
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

// document returns the delimiter of a here-document that begins at a place, and where the
// delimiter ends; "" if there is none.
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

// skipDocuments returns the end of the here-documents that begin after a line's end.
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
