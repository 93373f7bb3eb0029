package harness

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// When values arrive from clients, models, and tools, those that look like secrets are withheld
// before anything else reads them. Therefore, neither the log nor any data derived from it contains
// such values.

// clean withholds values that look like secrets.
func (h *Harness) clean(value json.RawMessage) (json.RawMessage, error) {
	doc, err := canon.Parse(object{"value": value}.json())
	if err != nil {
		return nil, protocol.WithoutText(err)
	}
	if len(h.secrets.Find(doc)) == 0 {
		return value, nil
	}
	result, err := h.secrets.Redact(doc, h.options.Random)
	if err != nil {
		return nil, err
	}
	return rawOf(result.Draft.Root().Member("value")), nil
}

// cleanText withholds substrings that look like secrets.
func (h *Harness) cleanText(text string) (string, error) {
	value, err := h.clean(quoted(text))
	if err == nil {
		err = json.Unmarshal(value, &text)
	}
	return text, err
}

// cleanFailure returns a failure without values that look like secrets. A provider or a module may
// have written the failure.
func (h *Harness) cleanFailure(f *Failure) *Failure {
	code, err := h.cleanText(f.Code)
	message, unclean := h.cleanText(f.Message)
	if errors.Join(err, unclean) != nil {
		return internal()
	}
	return &Failure{code, message}
}

// tellsSecrets reports whether a replay request, apart from the values of its overrides, contains a
// value that looks like a secret. Others could read such a value.
func (h *Harness) tellsSecrets(request *canon.Document) bool {
	told := object{}
	for name, node := range request.Root().Members() {
		told[name.String()] = rawOf(node)
	}
	overrides := object{}
	for key, node := range request.Root().Member("override").Members() {
		override := object{}
		for name, member := range node.Members() {
			if name.String() != "value" {
				override[name.String()] = rawOf(member)
			}
		}
		overrides[key.String()] = override
	}
	if len(overrides) > 0 {
		told["override"] = overrides
	}
	doc, err := canon.Parse(told.json())
	return err != nil || len(h.secrets.Find(doc)) > 0
}

// cleaned withholds values that look like secrets in the body of a request, and then serves the
// request.
func (h *Harness) cleaned(serve protocol.Handler) protocol.Handler {
	return func(w http.ResponseWriter, r *protocol.Request) error {
		if r.JSON == nil {
			return serve(w, r)
		}
		text, err := h.clean(r.JSON.Root().Raw())
		if err != nil {
			return protocol.Invalid("", "expected no secret in the name of a member")
		}
		if r.JSON, err = canon.Parse(text); err != nil || r.JSON.Root().Kind() != canon.KindObject {
			return protocol.Invalid("", "expected no secret in the name of a member")
		}
		return serve(w, r)
	}
}
