package a2a

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/internal/untrusted"
)

// Sign adds a signature to a card, and returns the card in canonical JSON. It calls sign, which
// must return the compact serialization of a JWS over the card.
//
// Verifiers compute the signed bytes either with or without empty members that are not required.
// Sign removes such members from a card without signatures, so that both computations agree. If the
// card already has signatures, which may cover empty members, such members are an error.
func Sign(ctx context.Context, doc *canon.Document, sign func(context.Context, []byte) (string, error)) ([]byte, error) {
	root := doc.Root()
	if len(root.Member("name").Text()) == 0 || root.Member("skills").Kind() != canon.KindArray {
		return nil, errors.New("a2a: expected an agent card, an object with name and skills")
	}
	if n, lossy := doc.LossyInteger(); lossy {
		return nil, fmt.Errorf("a2a: %s: an integer outside ±(2^53−1) has the canonical form of others, too", untrusted.Quote(n.Pointer(), 80))
	}

	var empty []canon.Node
	card, err := canon.Transform(appendReduced(nil, root, &empty, "signatures"))
	if err != nil {
		return nil, fmt.Errorf("a2a: %w", err)
	}
	signatures := root.Member("signatures")
	if len(empty) > 0 && signatures.Len() > 0 {
		return nil, fmt.Errorf("a2a: the empty member %s means the same as none, and the signatures of the card may cover it: remove it and the signatures, and sign the card again", untrusted.Quote(empty[0].Pointer(), 80))
	}

	token, err := sign(ctx, card)
	if err != nil {
		return nil, fmt.Errorf("a2a: %w", err)
	}
	parts := strings.Split(token, ".")
	list := bytes.TrimSuffix(signatures.AppendCanonical(nil), []byte("]"))
	if signatures.Len() == 0 {
		list = []byte("[")
	} else {
		list = append(list, ',')
	}
	list = append(list, `{"protected":"`+parts[0]+`","signature":"`+parts[2]+`"}]`...)
	text := append(bytes.TrimSuffix(card, []byte("}")), `,"signatures":`...)
	return canon.Transform(append(append(text, list...), '}'))
}
