package batch

import (
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/merkle"
	"github.com/receiptkit/receiptkit/schemas"
)

// ParseManifest parses a manifest, which does not have to be in canonical form. The root in the
// manifest must match the leaves. No receipt_id, leaf_hash, or receipt_hash may occur twice, because
// each of them identifies one receipt. A manifest may have at most [MaxBytes] bytes and [MaxEntries]
// entries.
//
// If the manifest is not valid JSON, the error is or wraps a *[canon.SyntaxError]. If it does not
// match the schema or lists a value twice, the error is an *[InvalidError]. If the root does not
// match the leaves, the error is a *[RootError].
func ParseManifest(data []byte) (*Manifest, error) {
	doc := new(canon.Document)
	if err := doc.Parse(data, canon.Limits{Bytes: MaxBytes, Depth: maxDepth}); err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}

	schema, err := schemas.Compile("batch")
	if err != nil {
		return nil, err
	}

	root := doc.Root()
	if found := schema.Check(root); found.Total > 0 {
		return nil, &InvalidError{found.Problems, found.Total}
	}

	// A document that matches the schema may still list the same receipt twice.
	entries, err := readEntries(root.Member("receipts"))
	if err != nil {
		return nil, err
	}

	stated, err := canon.ParseDigest(root.Member("merkle_root").Text())
	if err != nil {
		return nil, err
	}

	// Compute the root from the leaves, and compare it with the root in the manifest.
	m := newManifest(entries)
	if stated != m.root {
		return nil, &RootError{fmt.Sprintf("the manifest states the root %v, its leaves have the RFC 9162 root %v%s", stated, m.root, explained(m.Explain(stated)))}
	}

	return m, nil
}

func readEntries(list canon.Node) ([]Entry, error) {
	var entries []Entry
	var twice repeats
	for i, n := range list.Elements() {
		leaf, err := canon.ParseDigest(n.Member("leaf_hash").Text())
		if err != nil {
			return nil, err
		}
		hash, err := canon.ParseDigest(n.Member("receipt_hash").Text())
		if err != nil {
			return nil, err
		}

		// Each of the three values identifies one receipt.
		e := Entry{n.Member("receipt_id").String(), merkle.Hash(leaf), hash}
		twice.add(i, "receipt_id", e.ReceiptID)
		twice.add(i, "leaf_hash", leaf.String())
		twice.add(i, "receipt_hash", hash.String())
		entries = append(entries, e)
	}

	if twice.total > 0 {
		return nil, &InvalidError{twice.problems, twice.total}
	}
	return entries, nil
}

// repeats finds values that occur twice in a manifest.
type repeats struct {
	first    map[[2]string]int // index of the first entry with this member and value
	problems []schemas.Problem // the first schemas.MaxProblems
	total    int
}

func (r *repeats) add(entry int, member, value string) {
	if r.first == nil {
		r.first = make(map[[2]string]int)
	}
	first, found := r.first[[2]string{member, value}]
	if !found {
		r.first[[2]string{member, value}] = entry
		return
	}

	if r.total++; r.total <= schemas.MaxProblems {
		r.problems = append(r.problems, schemas.Problem{
			Pointer: fmt.Sprintf("/receipts/%d/%s", entry, member),
			Keyword: "uniqueItems",
			Detail:  fmt.Sprintf("expected distinct values, found that of /receipts/%d again", first),
		})
	}
}
