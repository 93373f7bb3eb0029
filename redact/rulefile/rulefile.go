// Package rulefile parses an organization's rules: policies of package redact, written in YAML, and
// detectors in the TOML format of gitleaks.
//
// # Policies
//
// A policy is one YAML mapping. Every member is optional:
//
//	name: company             # a name for display
//	extends: default          # or upstream, strict: start with those rules
//	pointers:                 # JSON Pointers; * is any one token, ** any number
//	  - /metadata/**/pin
//	names: [customer_iban, "*_pin"]
//	headers: true             # withhold sensitive headers
//	members: true             # read members and pairs as assignments
//	urls: anywhere            # or none, whole: where URLs are cleaned
//	references: true          # keep references such as ${NPM_TOKEN}
//	without: [twilio_key]     # detectors of extends to omit
//	detectors:                # each replaces a detector with the same name
//	  - name: badge
//	    pattern: '\b(BADGE-[0-9]{6})\b'
//	    group: 1              # the submatch that is the secret, or first
//	    keywords: [badge-]    # a text without any is not searched
//	    entropy: 2.5          # minimum entropy of the secret, in bits per byte
//	    allow: ['^BADGE-000'] # patterns of texts that are not secrets
//	    stop_words: [example]
//
// Lists are added to those in the extended rules, and a boolean member or urls replaces the
// extended value. The members are those of [redact.Rules] and [secret.Detector], which document
// them. Unknown or duplicate members, anchors, aliases, and second documents are rejected, because
// a misunderstood rule protects nothing.
//
// # gitleaks
//
// [ParseGitleaks] parses the rules of a gitleaks configuration. Receipts have no files or commits.
// A rule's path is therefore ignored, and a rule that has only a path is omitted. An allowlist's
// path and commit criteria are also omitted, and an allowlist that requires all of its criteria is
// never met if it has a path or commit criterion.
//
// # Limits
//
// A file may contain at most [MaxBytes] bytes, and at most 10,000 entries in each list. Package
// secret limits the detectors themselves.
//
// The API may still change.
package rulefile

import (
	"fmt"

	"github.com/receiptkit/receiptkit/redact"
)

// Limits on the input.
const (
	MaxBytes   = 1 << 20
	maxEntries = 10_000
)

// An Error describes an error in a file, with its location.
type Error struct {
	Line   int    // line number, from 1; 0 if the error concerns the entire file or the line is unknown
	Rule   string // the ID of a gitleaks rule; may be empty
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
