// Package rulefile reads what a company writes about secrets: policies of package
// redact as YAML, and detectors in the format of gitleaks, which is TOML.
//
// # Policies
//
// A policy is one YAML mapping, and every member may be absent:
//
//	name: company             # what a person calls it
//	extends: default          # or upstream, strict: begin with those rules
//	pointers:                 # JSON Pointers; * is any one token, ** any number
//	  - /metadata/**/pin
//	names: [customer_iban, "*_pin"]
//	headers: true             # withhold sensitive headers
//	members: true             # read members and pairs as assignments
//	urls: anywhere            # or none, whole: where URLs are cleaned
//	references: true          # keep references such as ${NPM_TOKEN}
//	without: [twilio_key]     # detectors of extends to leave out
//	detectors:                # one with the name of another replaces it
//	  - name: badge
//	    pattern: '\b(BADGE-[0-9]{6})\b'
//	    group: 1              # the submatch that is the secret, or first
//	    keywords: [badge-]    # a text without any is not searched
//	    entropy: 2.5          # bits per byte that the secret has at least
//	    allow: ['^BADGE-000'] # patterns of what is not a secret
//	    stop_words: [example]
//
// What is added stands after what is extended, and a member that says yes or no
// replaces it. Members are those of [redact.Rules] and [secret.Detector], where
// they are explained. An unknown member, a doubled one, an anchor, an alias or a
// second document is refused: a rule that is not understood protects nothing.
//
// # gitleaks
//
// [ParseGitleaks] reads the rules of a gitleaks configuration. There are no files
// and no commits here: the path of a rule is ignored, a rule that has nothing but
// a path is left out, and so are those criteria of an allowlist; where a list is
// met only when all criteria are, it is never met.
//
// # Limits
//
// A file has at most [MaxBytes], each list in it at most [MaxEntries], and
// package secret has limits for detectors.
//
// The exported names may still change.
package rulefile

import (
	"fmt"

	"github.com/receiptkit/receiptkit/redact"
)

// Limits of what is read.
const (
	MaxBytes   = 1 << 20
	MaxEntries = 10_000
)

// An Error says what is wrong in a file, and where.
type Error struct {
	Line   int    // from 1; 0: the file as a whole, or not known
	Rule   string // the id of a gitleaks rule; may be empty
	Detail string
}

func (e *Error) Error() string {
	s := "rule file: "
	if e.Line > 0 {
		s = fmt.Sprintf("rule file: line %d: ", e.Line)
	}
	if e.Rule != "" {
		s += fmt.Sprintf("rule %q: ", e.Rule)
	}
	return s + e.Detail
}

func checkSize(data []byte) error {
	if len(data) > MaxBytes {
		return &Error{Detail: fmt.Sprintf("it has more than %d bytes", MaxBytes)}
	}
	return nil
}

// builtin returns the rules that a policy may extend.
func builtin(name string) (redact.Rules, bool) {
	switch name {
	case "upstream":
		return redact.Upstream(), true
	case "default":
		return redact.Default(), true
	case "strict":
		return redact.Strict(), true
	}
	return redact.Rules{}, false
}
