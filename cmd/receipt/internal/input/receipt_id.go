package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/cli"
	"github.com/receiptkit/receiptkit/receipt/ledger"
)

// Minimum lengths, in bytes, of prefixes that identify a receipt_id.
const (
	minPrefix = 4 // that is accepted
	minShort  = 8 // that is printed
)

// idForms returns the strings whose prefixes can identify a receipt_id, shortest first. They are
// the part after ".task-", which "receipt record" appends to the session ID; the same part with a
// short session ID, such as "4d5611e5.task-2"; the part after "receipt_"; and the ID itself.
func idForms(id string) (forms []string) {
	bare := strings.TrimPrefix(id, "receipt_")
	if i := strings.LastIndex(bare, ".task-"); i >= 0 {
		forms = append(forms, bare[i+len(".task-"):], cutPrefix(bare[:i], minShort)+bare[i:])
	}
	forms = append(forms, bare, id)
	return slices.DeleteFunc(slices.Compact(forms), func(form string) bool { return form == "" })
}

// MatchID returns how well a string matches a receipt_id: 3 if it is the ID, 2 if it is a part of
// the ID, 1 if it is a prefix of at least four characters, and 0 otherwise.
func MatchID(id, text string) (fit int) {
	if id == text {
		return 3
	}
	for _, form := range idForms(id) {
		switch {
		case form == text:
			fit = 2
		case len(text) >= minPrefix && strings.HasPrefix(form, text):
			fit = max(fit, 1)
		}
	}
	return fit
}

// FindID returns the receipt_id in a ledger that best matches a string, according to MatchID. If
// there is no match, it returns the string itself. If several IDs match equally well, it returns an
// error.
func FindID(ctx context.Context, l ledger.Reader, text string) (string, error) {
	if _, err := l.Find(ctx, ledger.Key{ID: text}); err == nil || !errors.Is(err, ledger.ErrNotFound) {
		return text, nil // the caller reads this ID, and reports the error
	}

	best, found := 1, []string(nil)
	for row, err := range l.Walk(ctx, ledger.Query{Pruned: true}, 0) {
		if err != nil {
			return "", LedgerReading(err)
		}
		if fit := MatchID(row.ID, text); fit > best {
			best, found = fit, []string{row.ID}
		} else if fit == best {
			found = append(found, row.ID)
		}
	}
	switch len(found) {
	case 0:
		return text, nil
	case 1:
		return found[0], nil
	}
	return "", ambiguousID(text, found)
}

// stored returns the receipt in the default ledger that a string identifies, or nil if there is
// none. A file with this name takes precedence.
func stored(e *cli.Env, text string) ([]byte, error) {
	address := e.Defaults.Ledger
	if address == "" || !MayBeID(e, text) {
		return nil, nil
	}
	ctx := context.Background()
	l, err := OpenLedger(ctx, e, address, false)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	id, err := FindID(ctx, l, text)
	if err != nil {
		return nil, err
	}
	row, err := ledger.Lookup(ctx, l, ledger.Key{ID: id})
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, LedgerReading(err)
	case row.Pruned:
		return nil, cli.Usage("receipt ledger list --pruned names its archive", "receipt %q was pruned", id)
	}
	e.Note("receipt %q of the ledger %s", id, cli.Tilde(e, LedgerName(address)))
	return row.JSON, nil
}

// MayBeID reports whether a string may be a receipt_id, which is the case if it is not stdin, a
// file, a path, or the address of a ledger.
func MayBeID(e *cli.Env, text string) bool {
	_, err := os.Lstat(text)
	return err != nil && text != cli.StdinName && !strings.ContainsAny(text, `/\`) && !IsLedger(e, text)
}

// ambiguousID returns the failure for a prefix that several IDs share, and lists some of these IDs.
func ambiguousID(text string, ids []string) error {
	const most = 5
	var list strings.Builder
	for i, id := range ids[:min(len(ids), most)] {
		if i > 0 {
			list.WriteString(", ")
		}
		fmt.Fprintf(&list, "%.120q", id)
	}
	if more := len(ids) - most; more > 0 {
		fmt.Fprintf(&list, ", and %d more", more)
	}
	return cli.Usage("use more characters of the receipt_id", "%.120q is a prefix of %d receipt IDs: %s", text, len(ids), list.String())
}

// ShortIDs returns a prefix for each receipt_id in a list. FindID finds the ID by this prefix if it
// searches the same list. A prefix has at least eight characters, or is a complete form of the ID.
func ShortIDs(ids []string) []string {
	all := idParts(ids)
	short, rank := map[string]string{}, map[string]int{}
	for i, p := range all {
		n, taken := 0, false
		for _, other := range neighbors(all, i) {
			n, taken = max(n, common(p.text, other.text)), taken || p.text == other.text
		}
		if _, has := short[p.id]; !taken && (!has || p.rank < rank[p.id]) {
			short[p.id], rank[p.id] = cutPrefix(p.text, max(n+1, minShort)), p.rank
		}
	}

	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = cmp.Or(short[id], id)
	}
	return list
}

// An idPart is one of the forms of an ID, as returned by idForms. A form with a smaller rank is
// preferred.
type idPart struct {
	text, id string
	rank     int
}

// idParts returns the forms of all IDs, sorted by their text.
func idParts(ids []string) (all []idPart) {
	for _, id := range ids {
		for rank, text := range idForms(id) {
			all = append(all, idPart{text, id, rank})
		}
	}
	slices.SortFunc(all, func(a, b idPart) int {
		return cmp.Or(strings.Compare(a.text, b.text), strings.Compare(a.id, b.id))
	})
	return slices.Compact(all)
}

// neighbors returns the nearest forms of other IDs before and after the form at index at. No
// further form of another ID has a longer prefix in common with that form.
func neighbors(all []idPart, at int) (list []idPart) {
	for _, step := range []int{-1, 1} {
		for i := at + step; i >= 0 && i < len(all); i += step {
			if all[i].id != all[at].id {
				list = append(list, all[i])
				break
			}
		}
	}
	return list
}

// common returns the length of the longest common prefix.
func common(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// cutPrefix returns the first n bytes of a string, and more if necessary to end with a complete
// character.
func cutPrefix(text string, n int) string {
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	return text[:min(n, len(text))]
}
