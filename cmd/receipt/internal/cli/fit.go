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
// A digest that does not fit is cut in its middle; of other words the rest stands on the
// next line.
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
		if i > 0 && at > hang && (at+1+n > width || apart && i == command) {
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

// shorten makes a word fit into the room that is left on its line.
func shorten(word string, room, hang, width int) string {
	digest := regexp.MustCompile("^sha256:[0-9a-f]{64}([,;:.]?)$").FindStringSubmatch(word)
	if digest != nil && room >= 24 {
		keep := (room - len("sha256:") - 1 - len(digest[1])) / 2
		hex := word[len("sha256:") : len("sha256:")+64]
		return "sha256:" + hex[:keep] + "…" + hex[64-keep:] + digest[1]
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
