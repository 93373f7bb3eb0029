package claude

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// wrote records the changes that a successful call made: the content of a file before and after, if
// the line contains it. The digests cover the text in the log.
func wrote(s *story.Story, c *story.Call, told canon.Node) {
	if c.Does != "edit" {
		return
	}
	path := cmp.Or(s.Name(told.Member("filePath")), s.Name(told.Member("notebook_path")), c.Path)
	if path == "" {
		return
	}

	w := story.Write{Path: path}

	if told.Kind() == canon.KindObject && !s.Inexact {
		switch c.Tool {
		case "Edit", "MultiEdit":
			edited(&w, told)
		case "Write":
			written(&w, told)
		case "NotebookEdit":
			notebook(&w, told)
		}
	} else if c.Tool == "Write" && told.Kind() != canon.KindObject {
		w.After = c.Content
	}

	// A person changed the version that the agent wrote, so the result is unknown.
	if told.Member("userModified").Bool() {
		w.After = story.State{}
	}
	c.Wrote(w)
}

// written reads the result of Write, which contains the entire text.
func written(w *story.Write, told canon.Node) {
	content, original := told.Member("content"), told.Member("originalFile")
	if content.Kind() == canon.KindString {
		w.After = story.Held(content.Text())
	}

	switch told.Member("type").String() {
	case "create":
		w.Operation, w.Before = "create", story.Nothing()
	case "update":
		w.Operation = "modify"
		if patch := told.Member("structuredPatch"); original.Kind() == canon.KindString && content.Kind() == canon.KindString {
			if patch.Len() > 0 && !fits(original.Text(), content.Text(), patch) {
				w.After = story.State{}
				return
			}
			w.Before = story.Held(original.Text())
		}
	}
}

// notebook reads the result of NotebookEdit, which contains the entire text before and after or, in
// older versions, only the path. A notebook is never empty, so empty text means that the content is
// unknown.
func notebook(w *story.Write, told canon.Node) {
	w.Operation = "modify"
	before, after := told.Member("original_file").Text(), told.Member("updated_file").Text()
	if len(before) == 0 || len(after) == 0 {
		return
	}
	w.Before, w.After = story.Held(before), story.Held(after)
}

// edited applies the edits to the original text. The result is used only if the patch in the line
// also produces it.
func edited(w *story.Write, told canon.Node) {
	w.Operation = "modify"
	original := told.Member("originalFile")
	if original.IsZero() {
		original = told.Member("originalFileContents")
	}
	if original.Kind() != canon.KindString {
		if old := told.Member("oldString"); old.Kind() == canon.KindString && len(old.Text()) == 0 {
			w.Operation = "" // an edit of empty text may have created the file
		}
		return
	}

	before, after, ok := original.Text(), []byte(nil), true

	// The result of MultiEdit contains a list of edits, and the result of Edit contains a single
	// edit.
	if edits := told.Member("edits"); edits.Kind() == canon.KindArray {
		after = before
		for _, e := range edits.Elements() {
			old, anew := e.Member("old_string"), e.Member("new_string")
			if old.Kind() != canon.KindString || anew.Kind() != canon.KindString || !ok {
				ok = false
				break
			}
			after, ok = replace(after, old.Text(), anew.Text(), e.Member("replace_all").Bool())
		}
	} else {
		old, anew := told.Member("oldString"), told.Member("newString")
		if old.Kind() != canon.KindString || anew.Kind() != canon.KindString {
			return
		}
		after, ok = replace(before, old.Text(), anew.Text(), told.Member("replaceAll").Bool())
	}

	// The patch is independent evidence of the result.
	if !ok || !fits(before, after, told.Member("structuredPatch")) {
		return
	}
	w.Before, w.After = story.Held(before), story.Held(after)

	// An edit of empty text may have created the file.
	if len(before) == 0 {
		w.Operation, w.Before = "", story.State{}
	}
}

// replace applies an edit to text. An edit that deletes text also deletes the newline that follows,
// unless the deleted text ends with a newline.
func replace(text, old, anew []byte, all bool) ([]byte, bool) {
	if len(old) == 0 {
		return anew, len(text) == 0
	}
	if len(anew) == 0 && !bytes.HasSuffix(old, []byte("\n")) && bytes.Contains(text, append(bytes.Clone(old), '\n')) {
		old = append(bytes.Clone(old), '\n')
	}
	if !bytes.Contains(text, old) {
		return nil, false
	}
	n := 1
	if all {
		n = -1
	}

	return bytes.Replace(text, old, anew, n), true
}

// fits reports whether a patch transforms one text into the other. A patch contains lines of the
// old and the new content, with the numbers of the first lines. The patch may contain two spaces in
// place of each leading tab.
func fits(before, after []byte, patch canon.Node) bool {
	if patch.Kind() != canon.KindArray {
		return false
	}
	if patch.Len() == 0 {
		return bytes.Equal(before, after)
	}

	p := patching{from: linesOf(before), to: linesOf(after)}
	for _, hunk := range patch.Elements() {
		if !p.hunk(hunk) {
			return false
		}
	}

	// Only a hunk can add or remove the newline at the end of the last line.
	if ends(before) != ends(after) && !p.unended {
		return false
	}

	return p.i <= len(p.from) && p.j <= len(p.to) && same(p.from[p.i:], p.to[p.j:])
}

// A patching is the state of a comparison between two strings and the hunks of a patch.
type patching struct {
	from, to [][]byte
	i, j     int  // the next lines of both strings
	unended  bool // a hunk shows a last line without a newline
}

// hunk compares the strings with a hunk, including the unchanged lines before it. Lines between
// hunks are unchanged.
func (p *patching) hunk(hunk canon.Node) bool {
	start, first, lines := story.Count(hunk.Member("oldStart")), story.Count(hunk.Member("newStart")), hunk.Member("lines")
	if start == nil || first == nil || lines.Kind() != canon.KindArray {
		return false
	}
	i, j := max(int(*start)-1, 0), max(int(*first)-1, 0)
	if i < p.i || j-i != p.j-p.i || i > len(p.from) || j > len(p.to) || !same(p.from[p.i:i], p.to[p.j:j]) {
		return false
	}

	p.i, p.j = i, j
	for _, l := range lines.Elements() {
		if !p.line(l.Text()) {
			return false
		}
	}

	return true
}

// line compares one line of a hunk, which begins with a sign, with the strings.
func (p *patching) line(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	shown := func(lines [][]byte, at int) bool { return at < len(lines) && shows(lines[at], line[1:]) }

	switch line[0] {
	case ' ':
		if !shown(p.from, p.i) || !shown(p.to, p.j) {
			return false
		}
		p.i++
		p.j++
	case '-':
		if !shown(p.from, p.i) {
			return false
		}
		p.i++
	case '+':
		if !shown(p.to, p.j) {
			return false
		}
		p.j++
	// The hunk contains "\ No newline at end of file".
	case '\\':
		p.unended = true
	default:
		return false
	}

	return true
}

// linesOf returns the lines in a string. Text after the last newline is a line, unless it is empty.
func linesOf(text []byte) [][]byte {
	lines := bytes.Split(text, []byte("\n"))
	if ends(text) {
		return lines[:len(lines)-1]
	}
	return lines
}

// ends reports whether a string is empty or ends with a newline.
func ends(text []byte) bool { return len(text) == 0 || text[len(text)-1] == '\n' }

func same(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

// shows reports whether a patch shows a line, either unchanged or with two spaces in place of each
// leading tab.
func shows(line, shown []byte) bool {
	if bytes.Equal(line, shown) {
		return true
	}
	rest := bytes.TrimLeft(line, "\t")
	tabs := len(line) - len(rest)
	return tabs > 0 && string(shown) == strings.Repeat("  ", tabs)+string(rest)
}
