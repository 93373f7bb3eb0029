package cli

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
	"golang.org/x/text/width"
)

// minWidth is the minimum width of terminals for which lines are folded.
const minWidth = 40

// TerminalWidth returns the width of a terminal in columns, or 0 if f is not a terminal.
func TerminalWidth(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// A fitter is a writer that folds lines. It buffers an incomplete line until its end is written.
type fitter struct {
	w     io.Writer
	width int
	rest  []byte
}

func (f *fitter) Write(p []byte) (int, error) {
	var out bytes.Buffer
	text := append(f.rest, p...)
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			break
		}
		out.WriteString(fold(string(line), f.width))
		out.WriteByte('\n')
		text = rest
	}
	f.rest = bytes.Clone(text)
	if _, err := f.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// fold breaks a line at spaces, and aligns the following lines with the text after the label. If a
// digest does not fit, it gets its own line, and is shortened in the middle if that line is also
// too short. Other long words continue on the next line.
func fold(line string, width int) string {
	if Columns(line) <= width {
		return line
	}

	start, hang := hangOf(line, width)
	head, words := line[:start], strings.Split(line[start:], " ")

	// Users copy commands. A command gets its own line if it fits on one line. Otherwise, each line
	// break in the command is escaped for the shell.
	end, command := "", commandIn(words)
	apart := command > 0 && hang+Columns(strings.Join(words[command:], " ")) <= width
	var b strings.Builder
	b.WriteString(head)
	at := Columns(head)
	for i, word := range words {
		n := Columns(word)
		if i == command+1 && !apart {
			end = " \\"
			width -= len(end)
		}
		// Users copy and compare digests. A digest is printed completely on its own line if there
		// is enough room.
		own := (width - n) &^ 1
		alone := isDigest(word) && hang+n > width && at+1+n > width && own > 0
		if alone {
			text := strings.TrimRight(b.String(), " ")
			b.Reset()
			b.WriteString(text + "\n" + strings.Repeat(" ", own))
			at = own
		} else if i > 0 && at > hang && (at+1+n > width || apart && i == command) {
			b.WriteString(end + "\n" + strings.Repeat(" ", hang))
			at = hang
		} else if i > 0 {
			b.WriteByte(' ')
			at++
		}
		if at+n > width && end == "" {
			word = shorten(word, width-at, hang, width)
		}
		b.WriteString(word)
		if cut := strings.LastIndexByte(word, '\n'); cut >= 0 {
			at = Columns(word[cut+1:])
		} else {
			at += Columns(word)
		}
	}
	return b.String()
}

// hangOf returns the position at which the text of a line begins. If the line starts with a short
// label and at least two spaces, the text begins after those spaces. Otherwise, it begins after the
// indentation. hangOf also returns the column in which continuation lines begin. For a message with
// a prefix, this column leaves room for a complete digest in 80 columns.
func hangOf(line string, width int) (start, hang int) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if strings.HasPrefix(line, "receipt: ") {
		return indent, 2
	}
	if gap := strings.Index(line[indent:], "  "); gap > 0 {
		at := indent + gap
		at += len(line[at:]) - len(strings.TrimLeft(line[at:], " "))
		if at <= width/2 && at < len(line) {
			return at, at
		}
	}
	return indent, indent
}

// commandIn finds a command of this program that extends to the end of words, and returns the index
// of its first word. If there is no such command, it returns len(words). The command must be at the
// beginning, or follow a word that ends in a colon. Each plain word in it must be a subcommand or
// the value of a flag, because any other plain word means that the text is prose.
func commandIn(words []string) int {
	plain := regexp.MustCompile("^[a-z]+$|[,;]$").MatchString
	for first, word := range words {
		if word != "receipt" || first > 0 && !strings.HasSuffix(words[first-1], ":") {
			continue
		}
		rest := words[first+1:]
		for len(rest) > 0 && plain(rest[0]) {
			rest = rest[1:]
		}
		prose := false
		for i, word := range rest {
			prose = prose || plain(word) && !strings.HasPrefix(rest[max(i, 1)-1], "--")
		}
		if !prose {
			return first
		}
	}
	return len(words)
}

// digestIn returns the digits of a digest in a word, and the text before and after them. It returns
// empty strings for any other word.
func digestIn(word string) (before, digits, behind string) {
	const size, marks = 64, `",;:.()`
	head, rest, ok := strings.Cut(word, "sha256:")
	if !ok || len(rest) < size || strings.Trim(rest[:size], "0123456789abcdef") != "" || strings.Trim(head+rest[size:], marks) != "" {
		return "", "", ""
	}
	return head + "sha256:", rest[:size], rest[size:]
}

func isDigest(word string) bool {
	_, digits, _ := digestIn(word)
	return digits != ""
}

// shorten shortens a word to fit the space that remains on its line.
func shorten(word string, room, hang, columns int) string {
	if before, digits, behind := digestIn(word); digits != "" && room >= 24 {
		keep := (room - len(before) - 1 - len(behind)) / 2
		return before + digits[:keep] + "…" + digits[len(digits)-keep:] + behind
	}

	var b strings.Builder
	for _, r := range word {
		if n := columnsOf(r); n > room {
			b.WriteString("\n" + strings.Repeat(" ", hang))
			room = columns - hang
		}
		b.WriteRune(r)
		room -= columnsOf(r)
	}
	return b.String()
}

// Columns returns the width of a string on a terminal, ignoring color codes. East Asian wide
// characters take two columns, and combining marks take none (Unicode Standard Annex #11).
func Columns(s string) int {
	n := 0
	for s != "" {
		if strings.HasPrefix(s, "\x1b[") {
			if end := strings.IndexByte(s, 'm'); end > 0 {
				s = s[end+1:]
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(s)
		s, n = s[size:], n+columnsOf(r)
	}
	return n
}

func columnsOf(r rune) int {
	if r < utf8.RuneSelf {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Fit shortens a string to at most the given number of columns, and marks the cut.
func Fit(s string, most int) string {
	if Columns(s) <= most {
		return s
	}
	n := 1
	for i, r := range s {
		if n += columnsOf(r); n > most {
			return s[:i] + "…"
		}
	}
	return s
}
