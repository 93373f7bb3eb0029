package main

import (
	"crypto/rand"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact"
)

// withoutSecrets returns a message with placeholders in the place of what the
// default detectors find. Messages quote names of members and arguments, and
// somebody will put a token there; what is on a terminal ends in a log.
//
// Home directories stay: most messages name a file.
func withoutSecrets(text string) string {
	const whole = "the message is withheld: it cannot be searched for secrets"
	rules := redact.Rules{Name: "messages", URLs: redact.URLsAnywhere, References: true, Detectors: redact.DefaultDetectors()}
	policy, err := rules.Compile()
	if err != nil {
		return whole
	}
	doc, err := canon.Parse(append(canon.AppendString([]byte(`{"message":`), text), '}'))
	if err != nil {
		return whole
	}
	if len(policy.Find(doc)) == 0 {
		return text
	}
	result, err := policy.Redact(doc, rand.Reader)
	if err != nil {
		return whole
	}
	if doc, err = canon.Parse(result.Draft); err != nil {
		return whole
	}
	return doc.Root().Member("message").String()
}
