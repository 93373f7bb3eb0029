// Package rulefile parses rules that an organization has written: policies for package redact in
// YAML, and detectors in the TOML format of gitleaks.
//
// # Policies
//
// A policy is a single YAML mapping, in which every member is optional:
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
// A list is added to the corresponding list of the extended rules. A boolean or the member urls
// replaces the value of the extended rules. The members correspond to the fields of [redact.Rules]
// and [secret.Detector], where they are documented. Unknown or duplicate members, anchors, aliases,
// and second documents are rejected, because a rule that is misunderstood protects nothing.
//
// # gitleaks
//
// [ParseGitleaks] parses the rules in a gitleaks configuration. Receipts contain no files and no
// commits. The path of a rule is therefore ignored, and a rule with only a path is omitted. The
// path and commit criteria of an allowlist are also omitted. An allowlist that has such a
// criterion, and requires all of its criteria, never applies.
//
// # Limits
//
// A file may have at most [MaxBytes] bytes and at most 10,000 entries in each list. Package secret
// imposes further limits on detectors.
//
// The API of this package may still change.
package rulefile

import (
	"fmt"

	"github.com/receiptkit/receiptkit/redact"
)

// These are limits on the input.
const (
	MaxBytes   = 1 << 20
	maxEntries = 10_000
)

// An Error describes an error in a file and its location.
type Error struct {
	Line   int    // line number, from 1; 0 if the error concerns the entire file or if the line is not known
	Rule   string // ID of a gitleaks rule, if the error is about one
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

// builtin returns the built-in rules with the given name, which a policy may extend.
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
