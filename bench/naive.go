package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gowebpki/jcs"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/schemas"
)

// A naive verifier verifies a receipt in the obvious way, with a library for each step. It does not
// check policies, times, or other aspects that this module checks.
type naive struct {
	schema *jsonschema.Schema
	keys   map[string]ed25519.PublicKey // nil if signatures are not checked
}

// newNaive compiles the schema. If the set is nil, signatures are not checked.
func newNaive(set *keys.Set) *naive {
	text, ok := schemas.Source(schemas.Receipt)
	if !ok {
		check(errors.New("there is no schema of receipts"))
	}
	tree := must(jsonschema.UnmarshalJSON(bytes.NewReader(text)))
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	const name = "urn:receipt"
	check(c.AddResource(name, tree))
	n := &naive{schema: must(c.Compile(name))}
	if set != nil {
		n.keys = publicKeys(set)
	}
	return n
}

func publicKeys(set *keys.Set) map[string]ed25519.PublicKey {
	all := map[string]ed25519.PublicKey{}
	for _, k := range set.Keys() {
		if public, ok := k.Crypto().(ed25519.PublicKey); ok {
			all[k.ID] = public
		}
	}
	return all
}

func (n *naive) verify(text []byte) error {
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if err := n.schema.Validate(tree); err != nil {
		return err
	}
	root := tree.(map[string]any) // the schema guarantees this
	link := root["chain"].(map[string]any)
	stated, entries := link["receipt_hash"].(string), root["signatures"].([]any)
	delete(link, "receipt_hash")
	delete(root, "signatures")
	written, err := json.Marshal(root)
	if err != nil {
		return err
	}
	preimage, err := jcs.Transform(written)
	if err != nil {
		return err
	}
	if computed := fmt.Sprintf("sha256:%x", sha256.Sum256(preimage)); computed != stated {
		return fmt.Errorf("states %s, is %s", stated, computed)
	}
	if n.keys == nil {
		return nil
	}
	return n.signed(stated, entries)
}

// signed requires that there is at least one entry and that all entries are valid.
func (n *naive) signed(message string, entries []any) error {
	if len(entries) == 0 {
		return errors.New("no signature")
	}
	for _, e := range entries {
		entry := e.(map[string]any)
		key, known := n.keys[entry["key_id"].(string)]
		text, ok := strings.CutPrefix(entry["signature"].(string), "base64:")
		value, err := base64.StdEncoding.DecodeString(text)
		if !known || !ok || err != nil || !ed25519.Verify(key, []byte(message), value) {
			return errors.New("a signature is not good")
		}
	}
	return nil
}
