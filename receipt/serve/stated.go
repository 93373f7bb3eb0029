package serve

import (
	"bytes"
	"slices"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// A Source finds receipts by the IDs and tasks in them, and the server compares these with the
// request. Both use the functions in this file.

// Tasks returns the tasks to which a receipt belongs: its subject, if that is a task, and the task
// in its identifiers.
func Tasks(root canon.Node) (tasks []string) {
	subject := root.Member("subject")
	if id := subject.Member("id").String(); id != "" && subject.Member("object").String() == "task" {
		tasks = append(tasks, id)
	}
	if id := root.Member("identifiers").Member("task_id").String(); id != "" && !slices.Contains(tasks, id) {
		tasks = append(tasks, id)
	}
	return tasks
}

// tells reports whether a receipt states that it belongs to a task. If the source of the receipt
// did not record a task, a name such as "unknown" is a placeholder (metadata.unreported). Receipts
// with this placeholder are not treated as belonging to the same task.
func tells(root canon.Node, task string) bool {
	untold, subject := receipt.ReadUnreported(root), root.Member("subject")
	if subject.Member("object").String() == "task" && subject.Member("id").String() == task && !untold.Has("/subject/id") && !untold.Has("/subject/object") {
		return true
	}
	return root.Member("identifiers").Member("task_id").String() == task && !untold.Has("/identifiers/task_id")
}

// DamagedID returns the receipt_id in text that is not valid JSON or cannot be parsed. It returns
// "" if there is none. The result is used only to find the text again. It is the value of the first
// receipt_id member in the outermost object, as far as brackets and strings show.
func DamagedID(text []byte) string {
	const name = `"receipt_id"`
	depth := 0

	// Members of nested objects are ignored, so brackets are counted and strings are skipped.
	for len(text) > 0 {
		switch c := text[0]; c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			token, rest := cutString(text)
			value, follows := bytes.CutPrefix(skipSpace(rest), []byte{':'})
			if depth == 1 && follows && string(token) == name {
				token, _ = cutString(skipSpace(value))
				return stringOf(token)
			}
			text = rest
			continue
		}
		text = text[1:]
	}

	return ""
}

// cutString cuts a JSON string, including its quotes, from the beginning of text. The token is nil
// if the text does not begin with a complete string.
func cutString(text []byte) (token, rest []byte) {
	if len(text) == 0 || text[0] != '"' {
		return nil, text
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[:i+1], text[i+1:]
		}
	}
	return nil, nil
}

func skipSpace(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n") }

// stringOf returns the value of a JSON string, or "" if the token is not a JSON string.
func stringOf(token []byte) string {
	doc, err := canon.Parse(token)
	if err != nil {
		return ""
	}
	return doc.Root().String()
}
