package cli

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// minWidth is the narrowest terminal that lines are folded for.
const minWidth = 40

// TerminalWidth is the width of a terminal in columns; 0 of anything else.
func TerminalWidth(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// A fitter folds lines. What is not a whole line yet waits for its end.
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

// fold breaks a line at spaces, and puts what follows below the text of its first label.
// A digest that does not fit has a line of its own, and is cut in its middle when that is
// too short as well; of other words the rest stands on the next line.
func fold(line string, width int) string {
	if columns(line) <= width {
		return line
	}

	start, hang := hangOf(line, width)
	head, words := line[:start], strings.Split(line[start:], " ")

	// A command is to be copied whole: it has a line of its own when that is enough, and
	// where it is broken the shell is told so.
	end, command := "", commandIn(words)
	apart := command > 0 && hang+columns(strings.Join(words[command:], " ")) <= width
	var b strings.Builder
	b.WriteString(head)
	at := columns(head)
	for i, word := range words {
		n := columns(word)
		if i == command+1 && !apart {
			end = " \\"
			width -= len(end)
		}
		// A digest is to be kept and compared: it is whole on a line of its own, if there is
		// any room for one.
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
			at = columns(word[cut+1:])
		} else {
			at += columns(word)
		}
	}
	return b.String()
}

// hangOf is where the text of a line begins, after a label and two spaces or more, and in
// which column its next line does. Below a message that is where a digest is whole yet in
// 80 columns.
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

// commandIn is which of some words is the first of a command of this program that goes to
// their end; as many as there are when there is none. Before it stands nothing, or what
// ends in a colon; a plain word is a verb of it or the value of a flag, or it goes on in
// prose.
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

// digestIn is the digits of a digest, and what stands before and behind it; "" of any
// other word.
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

// shorten makes a word fit into the room that is left on its line.
func shorten(word string, room, hang, width int) string {
	if before, digits, behind := digestIn(word); digits != "" && room >= 24 {
		keep := (room - len(before) - 1 - len(behind)) / 2
		return before + digits[:keep] + "…" + digits[len(digits)-keep:] + behind
	}

	var b strings.Builder
	for _, r := range word {
		if room == 0 {
			b.WriteString("\n" + strings.Repeat(" ", hang))
			room = width - hang
		}
		b.WriteRune(r)
		room--
	}
	return b.String()
}

// columns is how wide a text is, without the codes of its colours.
func columns(s string) int {
	n := 0
	for s != "" {
		if strings.HasPrefix(s, "\x1b[") {
			if end := strings.IndexByte(s, 'm'); end > 0 {
				s = s[end+1:]
				continue
			}
		}
		_, size := utf8.DecodeRuneInString(s)
		s, n = s[size:], n+1
	}
	return n
}
