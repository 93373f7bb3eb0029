package codex

import (
	"path"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

// A patch is the set of changes in a call of apply_patch.
type patch struct {
	changes []story.Write
	ofShell bool // the patch was passed to a shell: ["apply_patch", PATCH]
}

// patchIn parses the patch in the arguments of a call, which are JSON in a string.
func patchIn(arguments canon.Node) patch {
	text := arguments.Text()
	if arguments.Kind() != canon.KindString || !strings.Contains(string(text), story.BeginPatch) {
		return patch{}
	}
	doc, err := canon.Parse(text)
	if err != nil {
		return patch{}
	}

	// The patch is the input of the tool, or a shell calls apply_patch as a program.
	for _, name := range []string{"input", "patch"} {
		if n := doc.Root().Member(name); n.Kind() == canon.KindString {
			return patch{changes: story.PatchOf(n.String())}
		}
	}

	var words []string
	for _, w := range doc.Root().Member("command").Elements() {
		words = append(words, w.String())
	}
	if len(words) == 2 && words[0] == "apply_patch" {
		p := patch{story.PatchOf(words[1]), true}

		// Paths are relative to the directory of the shell.
		for i, w := range p.changes {
			if folder := doc.Root().Member("workdir").String(); folder != "" && !path.IsAbs(w.Path) {
				p.changes[i].Path = path.Join(folder, w.Path)
			}
		}
		return p
	}

	return patch{}
}

// changesOf parses the file changes that Codex made, which are a map keyed by path or an array of
// {path, kind}. Codex records the content of added and deleted files. For an update, it records
// only a diff.
func changesOf(s *story.Story, changes canon.Node) (list []story.Write) {
	if changes.Kind() == canon.KindArray {
		return writesOf(changes)
	}

	// A moved file is deleted at one path and created at another.
	for name, n := range changes.Members() {
		w := story.Write{Path: nameOf(name)}
		switch n.Member("type").String() {
		case "add":
			w.Operation, w.Before, w.After = "create", story.Nothing(), s.Held(n.Member("content"))
		case "delete":
			w.Operation, w.Before, w.After = "delete", s.Held(n.Member("content")), story.Nothing()
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
