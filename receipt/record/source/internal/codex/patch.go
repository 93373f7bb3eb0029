package codex

import (
	"path"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A patch is what apply_patch was asked to change.
type patch struct {
	changes []story.Write
	ofShell bool // it was given to a shell: ["apply_patch", PATCH]
}

// patchIn reads the patch in arguments, which are JSON in a text.
func patchIn(arguments canon.Node) patch {
	text := arguments.Text()
	if arguments.Kind() != canon.KindString || !strings.Contains(string(text), beginPatch) {
		return patch{}
	}
	doc, err := canon.Parse(text)
	if err != nil {
		return patch{}
	}
	for _, name := range []string{"input", "patch"} {
		if n := doc.Root().Member(name); n.Kind() == canon.KindString {
			return patchOf(n.String())
		}
	}

	var words []string
	for _, w := range doc.Root().Member("command").Elements() {
		words = append(words, w.String())
	}
	if len(words) == 2 && words[0] == "apply_patch" {
		p := patchOf(words[1])
		p.ofShell = true
		for i, w := range p.changes { // where the shell worked
			if folder := doc.Root().Member("workdir").String(); folder != "" && !path.IsAbs(w.Path) {
				p.changes[i].Path = path.Join(folder, w.Path)
			}
		}
		return p
	}
	return patch{}
}

const (
	beginPatch = "*** Begin Patch"
	endPatch   = "*** End Patch"
)

// patchOf reads a patch. A file that is added holds what the patch adds, a line feed after
// each line; of others nothing tells what they held. One that is not whole is none.
func patchOf(text string) (p patch) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, beginPatch) || !strings.HasSuffix(text, endPatch) {
		return p
	}
	var added *strings.Builder
	closeAdded := func() {
		if added != nil {
			p.changes[len(p.changes)-1].After = story.Held([]byte(added.String()))
			added = nil
		}
	}

	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if added != nil && strings.HasPrefix(line, "+") {
			added.WriteString(line[1:] + "\n")
			continue
		}
		word, name, found := strings.Cut(line, ": ")
		if !strings.HasPrefix(line, "*** ") {
			if added != nil { // a line that adds nothing: what the file holds is not told
				added = nil
			}
			continue
		}
		closeAdded()
		switch {
		case !found || name == "":
		case word == "*** Add File":
			p.changes = append(p.changes, story.Write{Path: name, Operation: "create"})
			added = new(strings.Builder)
		case word == "*** Update File":
			p.changes = append(p.changes, story.Write{Path: name, Operation: "modify"})
		case word == "*** Delete File":
			p.changes = append(p.changes, story.Write{Path: name, Operation: "delete", After: story.Nothing()})
		case word == "*** Move to" && len(p.changes) > 0:
			p.changes[len(p.changes)-1].Operation, p.changes[len(p.changes)-1].After = "delete", story.Nothing()
			p.changes = append(p.changes, story.Write{Path: name, Operation: "create"})
		}
	}
	return p
}

// changesOf returns the changes of files that Codex applied: a map from paths, or an array of
// {path, kind}. Codex writes the content of files that were added or deleted. Of an update, it
// writes a diff only.
func changesOf(s *story.Story, changes canon.Node) (list []story.Write) {
	if changes.Kind() == canon.KindArray {
		return writesOf(changes)
	}
	held := func(n canon.Node) story.State {
		if text := n.Member("content"); text.Kind() == canon.KindString && s.Exact() {
			return story.Held(text.Text())
		}
		return story.State{}
	}
	for name, n := range changes.Members() {
		w := story.Write{Path: nameOf(name)}
		switch n.Member("type").String() {
		case "add":
			w.Operation, w.Before, w.After = "create", story.Nothing(), held(n)
		case "delete":
			w.Operation, w.Before, w.After = "delete", held(n), story.Nothing()
		case "update":
			w.Operation = "modify"
			if moved := nameOf(either(n, "move_path")); moved != "" {
				w.Operation, w.After = "delete", story.Nothing()
				list = append(list, w)
				w = story.Write{Path: moved, Operation: "create"}
			}
		}
		list = append(list, w)
	}
	return list
}
