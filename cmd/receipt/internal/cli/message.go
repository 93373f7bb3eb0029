package cli

import (
	"crypto/rand"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// CompileMessages compiles the policy for messages. This takes some milliseconds, so the result can
// be stored in Env.
func CompileMessages() (*redact.Policy, error) {
	return redact.Rules{Name: "messages", URLs: redact.URLsAnywhere, References: true, Detectors: secret.Default()}.Compile()
}

// redactText applies a policy to a string.
func redactText(policy *redact.Policy, text string) (string, error) {
	doc, err := canon.Parse(append(canon.AppendString([]byte(`{"text":`), text), '}'))
	if err != nil {
		return "", err
	}
	result, err := policy.Redact(doc, rand.Reader)
	if err != nil {
		return "", err
	}
	return result.Draft.Root().Member("text").String(), nil
}
