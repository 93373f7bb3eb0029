package headline

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// NotRecorded replaces values that metadata.unreported lists.
const NotRecorded = "not recorded"

// A Reading is a receipt with pointers to the values that the receipt's source did not report, or
// reported only as a bound, an estimate, or an inference.
type Reading struct {
	Root       canon.Node
	Unreported receipt.Pointers // metadata.unreported
	Over       receipt.Pointers // metadata.at_most
	Estimated  receipt.Pointers // metadata.estimated
	Inferred   receipt.Pointers // metadata.inferred
}

// Read returns the Reading of a receipt, which need not be valid.
func Read(root canon.Node) *Reading {
	return &Reading{
		Root: root, Unreported: receipt.ReadUnreported(root), Over: receipt.ReadAtMost(root),
		Estimated: pointers(root, "estimated"), Inferred: pointers(root, "inferred"),
	}
}

// pointers reads a list of JSON Pointers from the metadata, and sorts it.
func pointers(root canon.Node, name string) (list receipt.Pointers) {
	for _, n := range root.Member("metadata").Member(name).Elements() {
		if text := n.String(); n.Kind() == canon.KindString && strings.HasPrefix(text, "/") {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return list
}

// Hidden reports whether the value in the receipt is only a placeholder, because the source did not
// report the value. If a list may be incomplete, its entries were still reported, and so were the
// members of an entry for an effect that may not have happened.
func (r *Reading) Hidden(n canon.Node) bool {
	return len(r.Unreported) > 0 && !n.IsZero() && r.Hides(n.Pointer())
}

// Hides is like Hidden, but for the value at a pointer. A value is unreported if the value itself,
// or a value that encloses it, is listed. For a value inside a list entry, neither the entry nor
// the list counts as enclosing.
func (r *Reading) Hides(pointer string) bool {
	if lists(r.Unreported, pointer) {
		return true
	}

	for pointer != "" && !isIndex(path.Base(pointer)) {
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
		if !isIndex(path.Base(pointer)) && lists(r.Unreported, pointer) {
			return true
		}
	}
	return false
}

// Possible reports whether the effect that a list entry describes may not have happened.
func (r *Reading) Possible(entry canon.Node) bool {
	return len(r.Unreported) > 0 && lists(r.Unreported, entry.Pointer())
}

// Reckoned returns a suffix for an amount that is the source's estimate rather than a billed
// amount.
func (r *Reading) Reckoned(pointer string) string {
	if lists(r.Estimated, pointer) {
		return " (estimated by the source)"
	}
	return ""
}

// Bound returns a prefix that states which kind of bound a number or a list length is. A number
// that may be both too small and too large is described only as reported.
func (r *Reading) Bound(pointer string) string {
	return Between(r.Unreported.Has(pointer), r.Over.Has(pointer))
}

// Bounds reports whether the receipt lists exactly this value as possibly too small, and whether it
// lists it as possibly too large.
func (r *Reading) Bounds(n canon.Node) (under, over bool) {
	if len(r.Unreported)+len(r.Over) == 0 || n.IsZero() {
		return false, false
	}
	at := n.Pointer()
	return lists(r.Unreported, at), lists(r.Over, at)
}

// Headline returns the headline of the receipt.
func (r *Reading) Headline() *Headline { return headlineOf(r) }

// Sentence returns only the sentence of the headline. The caller must escape it.
func (r *Reading) Sentence() string { return r.Headline().Sentence.String() }

// Files returns the number of distinct files that were written.
func (r *Reading) Files() Count { return countOf(counter{r}.written()) }

// Calls returns the number of distinct tool calls.
func (r *Reading) Calls() Count {
	_, t := counter{r}.distinctCalls()
	return countOf(t)
}

// Model returns the chosen model, or "" if the receipt does not state it.
func (r *Reading) Model() string {
	return counter{r}.name(r.Root.Member("model_route").Member("chosen_model").Member("model"))
}

// Budget describes the use of the budget.
func (r *Reading) Budget() Words { return usage{counter{r}}.budget(false) }

// Origin returns the title, the project, and the times of the receipt.
func (r *Reading) Origin() Origin { return Origin{counter{r}} }

// Subject returns the kind and the ID of the subject of a receipt.
func (r *Reading) Subject() string {
	subject := r.Root.Member("subject")
	return Words{}.quote(subject.Member("object")).add(" ").quote(subject.Member("id")).String()
}

// Determinism describes whether the task can be replayed.
func (r *Reading) Determinism() string {
	input := r.Root.Member("replay_input")
	determinism := input.Member("determinism")
	w := Words{}.quote(determinism)

	switch determinism.String() {
	case "byte_deterministic":
		w = Words{"a replay returns the same bytes"}
	case "best_effort":
		w = Words{"a replay may differ"}
	case "unavailable":
		w = Words{"not possible"}
	}

	// A reason explains the value, unless the source did not report the value.
	if r.Hidden(determinism) {
		return NotRecorded
	}
	if reason := input.Member("unavailable_reason"); !reason.IsZero() {
		w = w.add(`: "`).quote(reason).add(`"`)
	}

	return w.String()
}

// Between is like Bound, but for a number that may be too small (under), too large (over), or both.
func Between(under, over bool) string {
	switch {
	case under && over:
		return "reportedly "
	case under:
		return "at least "
	case over:
		return "at most "
	}
	return ""
}

// lists reports whether a list contains exactly this pointer.
func lists(list receipt.Pointers, pointer string) bool {
	_, listed := slices.BinarySearch(list, pointer)
	return listed
}

// isIndex reports whether a token of a JSON Pointer is an array index.
func isIndex(token string) bool {
	_, err := strconv.ParseUint(token, 10, 64)
	return err == nil
}

// Unread describes the number and the types of the log's records that were not read. Any of these
// records may be an action that the receipt does not list. It returns "" if all records were read.
func (r *Reading) Unread() string {
	records, types := 0, 0
	var names []string
	for name, n := range r.Root.Member("metadata").Member("ignored_records").Members() {
		if n.Kind() == canon.KindNumber && n.Float() > 0 {
			records, types, names = records+int(n.Float()), types+1, append(names, name.String())
		}
	}

	// The list of names is limited, because a log may contain any number of names.
	if types == 0 {
		return ""
	}

	const most = 10
	more := ""
	if types > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", types-most)
	}

	return NotRead(records, types) + ": " + strings.Join(names, ", ") + more
}

// NotRead describes how many records of a log were not read, and how many types they have.
func NotRead(records, types int) string {
	verb := "were"
	if records == 1 {
		verb = "was"
	}
	return fmt.Sprintf("%s of %s %s not read", Plural(records, "record", ""), Plural(types, "unknown type", ""), verb)
}
