package codex

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/source/internal/story"
)

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
