package cli

import (
	"crypto/rand"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// WithoutSecrets returns a message with placeholders in the place of what the
// default detectors find. Messages quote names of members and arguments, and
// somebody will put a token there; what is on a terminal ends in a log.
//
// Home directories stay: most messages name a file.
func (e *Env) WithoutSecrets(text string) string {
	const whole = "the message is withheld: it could not be searched for secrets"
	compile := e.Messages
	if compile == nil {
		compile = CompileMessages
	}

	policy, err := compile()
	if err != nil {
		return whole
	}

	clean, err := redactText(policy, text)
	if err != nil {
		return whole
	}

	// A URL in a pointer is seen with its slashes (RFC 6901 section 4).
	shown := strings.NewReplacer("~1", "/", "~0", "~").Replace(clean)
	again, err := redactText(policy, shown)
	switch {
	case err != nil:
		return whole
	case again != shown:
		return again
	}

	return clean
}

// CompileMessages takes some 30 ms, which is why env can have the result.
func CompileMessages() (*redact.Policy, error) {
	return redact.Rules{Name: "messages", URLs: redact.URLsAnywhere, References: true, Detectors: secret.Default()}.Compile()
}

// redactText applies a policy to one text.
func redactText(policy *redact.Policy, text string) (string, error) {
	doc, err := canon.Parse(append(canon.AppendString([]byte(`{"text":`), text), '}'))
	if err != nil {
		return "", err
	}
	result, err := policy.Redact(doc, rand.Reader)
	if err != nil {
		return "", err
	}
	if doc, err = canon.Parse(result.Draft); err != nil {
		return "", err
	}
	return doc.Root().Member("text").String(), nil
}
