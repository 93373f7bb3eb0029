package batch

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

const previousMember = "previous_receipt_hash"

// fill returns a copy of a draft with the given merkle_root. It omits the member of the draft's
// chain whose name is equal to the argument "without". If the document cannot be a draft for a
// batch, it is returned unchanged, and [receipt.SealDocument] or [misplaced] describes the problem.
// The error is a *[receipt.InvalidError].
func fill(draft *canon.Document, merkleRoot canon.Digest, without string) (*canon.Document, error) {
	root := draft.Root()
	link := root.Member("chain")
	switch {
	case root.Kind() != canon.KindObject,
		!link.IsZero() && link.Kind() != canon.KindObject,
		!link.Member("merkle_root").IsZero():
		return draft, nil
	}

	// Members are copied unchanged, because SealDocument accepts any equivalent JSON.
	b := canon.AppendString([]byte(`{"chain":{"merkle_root":`), merkleRoot.String())
	b = append(appendMembers(b, link, without), '}')
	b = append(appendMembers(b, root, "chain"), '}')

	filled := new(canon.Document)
	if err := filled.Parse(b, canon.Limits{Bytes: 4 * receipt.MaxBytes}); err != nil {
		return nil, beyond(err)
	}
	return filled, nil
}

// beyond returns the error for a draft that exceeds the limits in fill. This is possible if the
// draft was parsed with higher limits.
func beyond(err error) error {
	p := receipt.Problem{Code: receipt.CodeSyntax, Detail: err.Error()}
	var syntax *canon.SyntaxError
	if errors.As(err, &syntax) {
		p.Code, p.Pointer = receipt.Code(syntax.Code), syntax.Pointer
	}
	return &receipt.InvalidError{Problems: []receipt.Problem{p}}
}

// appendMembers appends the members of an object, each preceded by a comma. It skips the member
// whose name is equal to the argument "but".
func appendMembers(b []byte, object canon.Node, but string) []byte {
	for name, value := range object.Members() {
		if name.String() != but {
			b = append(append(b, ','), name.Raw()...)
			b = append(append(b, ':'), value.Raw()...)
		}
	}
	return b
}

// misplaced finds members of a draft that only the batch may set. before is the index of the
// previous draft in the same stream, or -1 if there is none in the batch.
func misplaced(root canon.Node, before int) []receipt.Problem {
	var problems []receipt.Problem
	link := root.Member("chain")
	if !link.Member("merkle_root").IsZero() {
		problems = append(problems, receipt.Problem{Pointer: "/chain/merkle_root", Code: receipt.CodeSchemaInvalid,
			Detail: "a draft must not state a root, because the batch adds it"})
	}
	if before >= 0 && !link.Member(previousMember).IsZero() {
		problems = append(problems, receipt.Problem{Pointer: "/chain/" + previousMember, Code: receipt.CodeChainBreak,
			Detail: fmt.Sprintf("the predecessor is created from draft %d, so its hash is not known in advance", before)})
	}
	return problems
}
