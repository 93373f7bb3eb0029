package daily

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/receiptkit/receiptkit/receipt/record/source"
)

// A keptGroup contains the tasks of related logs.
type keptGroup struct {
	Of    string // identifies the logs
	Tasks []*keptTask
}

// A keptTask is a task whose parts refer to logs by their numbers in the group.
type keptTask struct {
	*source.Task
	Logs []int
}

// groupOf identifies a group of related logs, or returns "" if nothing is stored about one of them.
func groupOf(logs []*logFile, apart bool) (first, of string) {
	sum := sha256.New()
	fmt.Fprintln(sum, apart)
	for _, l := range logs {
		if l.memory == nil {
			return "", ""
		}
		fmt.Fprintf(sum, "%q %v\n", l.memory.path, l.memory.kept.Of)
		first = cmp.Or(first, l.memory.path)
	}
	return first, string(sum.Sum(nil))
}

// recallTasks returns the tasks of related logs, if they are stored.
func recallTasks(m *memory, logs []*logFile, apart bool) (works []*work, known bool) {
	first, of := groupOf(logs, apart)
	if first == "" || m.was.Groups[first] == nil || m.was.Groups[first].Of != of {
		return nil, false
	}
	for _, t := range m.was.Groups[first].Tasks {
		w := &work{Task: t.Task}
		for i, n := range t.Logs {
			if n >= len(logs) || i >= len(t.Parts) {
				return nil, false
			}
			w.files = append(w.files, logs[n])
			w.Parts[i].Log = logs[n].outline
		}
		works = append(works, w)
	}
	return works, true
}

// learnTasks stores the tasks of related logs.
func learnTasks(m *memory, logs []*logFile, works []*work, apart bool) {
	first, of := groupOf(logs, apart)
	if first == "" || m.only {
		return
	}
	g := &keptGroup{Of: of}
	for _, w := range works {
		t := &keptTask{Task: new(*w.Task)}
		t.Parts = slices.Clone(t.Parts)
		for i, f := range w.files {
			t.Parts[i].Log = nil
			t.Logs = append(t.Logs, slices.Index(logs, f))
		}
		g.Tasks = append(g.Tasks, t)
	}
	m.now.Groups[first] = g
}
