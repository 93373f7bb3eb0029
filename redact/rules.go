package redact

import (
	"fmt"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// Rules say what to withhold. [Upstream], [Default] and [Strict] return such
// rules, which may be added to; a zero field withholds nothing. [Rules.Compile]
// makes a [Policy] of them.
type Rules struct {
	Name string // what a person calls them

	// Pointers are JSON Pointers (RFC 6901) in which the token * stands for any
	// one token, ** for any number of them and ** at the end for at least one:
	// /metadata/** is everything in metadata, /metadata/**/pin every pin there.
	// A pointer without such tokens must name a value of the document.
	Pointers []string

	// Names are names of members, wherever they are. Letters are compared
	// without their case (of ASCII), and without _, - and spaces: api_key is
	// also apiKey. A name that begins with * stands for all that end so.
	Names []string

	// Headers withholds what package documentation calls sensitive headers:
	// members of an object that is named headers, or something that ends so.
	Headers bool

	// Members shows detectors a string member with its name, as NAME="VALUE", so
	// that what is known by its name is found in objects as it is in texts. An
	// object with a name and a value, as in lists of variables, headers and
	// cookies, and a pair of strings are read as members, too.
	Members bool

	// URLs says in which strings URLs are cleaned.
	URLs URLs

	// References keeps the value of a sensitive name or URL parameter when it
	// is only a reference such as ${NPM_TOKEN}.
	References bool

	// Detectors find secrets in strings and in names. Where two find the same
	// text the earlier one names it.
	Detectors []secret.Detector
}

// URLs says in which strings a URL loses its user information and the values of
// its sensitive parameters.
type URLs int

const (
	URLsKept     URLs = iota // in none
	URLsWhole                // in strings that are one http or https URL: upstream's rule
	URLsAnywhere             // in every string, of every scheme, in fragments and path parameters too
)

// Compile checks the rules. The error of a detector is a *[secret.DetectorError].
func (r Rules) Compile() (*Policy, error) {
	p := &Policy{
		shape: receiptShape(),
		memberRules: memberRules{
			cleaner: cleaner{urls: newURLRule(r.URLs, r.References), detectors: map[string]bool{}},
			naming:  naming{headers: r.Headers, references: r.References},
			members: r.Members,
		},
	}

	// Compiled by mistake, such rules would call every draft clean.
	if len(r.Pointers)+len(r.Names)+len(r.Detectors) == 0 && !r.Headers && r.URLs == URLsKept {
		return nil, &ruleError{Rule: "policy", Code: codeInvalidRule, Detail: "there are no rules: nothing would ever be withheld"}
	}
	if r.URLs < URLsKept || r.URLs > URLsAnywhere {
		return nil, &ruleError{Rule: "URLs", Code: codeInvalidRule, Detail: "expected one of the constants"}
	}

	for i, text := range r.Pointers {
		pat, err := compilePointer(p.shape, text)
		if err != nil {
			err.Rule = fmt.Sprintf("pointer %d", i)
			return nil, err
		}
		p.patterns = append(p.patterns, pat)
	}

	for i, name := range r.Names {
		if !p.names.add(name) {
			return nil, &ruleError{fmt.Sprintf("name %d", i), codeInvalidRule, "expected a letter or a digit; every name would match"}
		}
	}

	scanner, err := secret.Compile(r.Detectors)
	if err != nil {
		return nil, err
	}

	// Placeholders are known by the names of these detectors, and by no others.
	p.scanner = scanner
	for _, d := range r.Detectors {
		p.detectors[d.Name] = true
		p.longest = max(p.longest, len(d.Name))
	}
	p.reasons = p.everyReason()
	return p, nil
}

// everyday is filled by [Everyday]. It does not refer to [Default], so that a program that does
// not call Everyday, such as the verification page, links no detectors.
var everyday struct {
	once   sync.Once
	policy *Policy
	err    error
}

// Everyday returns the policy of [Default], which is compiled once in a process. All callers
// share the policy and the detectors that it compiled for their texts.
func Everyday() (*Policy, error) {
	everyday.once.Do(func() { everyday.policy, everyday.err = Default().Compile() })
	return everyday.policy, everyday.err
}

// compilePointer refuses what is not a pointer, and what can only name a value
// that is never withheld.
func compilePointer(root *shape, text string) (pattern, *ruleError) {
	ptr, err := canon.ParsePointer(text)
	if err != nil {
		detail := "expected a JSON Pointer (RFC 6901)"
		if e, ok := err.(*canon.PointerError); ok {
			detail += fmt.Sprintf(": at byte %d: %s", e.Offset, e.Detail)
		}
		return pattern{}, &ruleError{Code: codeInvalidRule, Detail: detail}
	}

	// What wildcards meet is seen in a draft. What a plain pointer names is known now.
	pat := pattern{text: text, tokens: ptr.Tokens()}
	if pat.wild() {
		return pat, nil
	}
	if root.find(pat.tokens).guarded() || len(pat.tokens) > 0 && pat.tokens[0] == "redactions" {
		return pattern{}, &ruleError{Code: codeProtectedField, Detail: "it names a protected member of the receipt, or what holds one"}
	}

	return pat, nil
}

// What a rule is called, in findings and in the reasons of entries. A detector
// is called by ruleOf.
const (
	rulePointer = "pointer"
	ruleName    = "name"
	ruleHeader  = "header"
	ruleURL     = "url"
	ruleHash    = "hash of a withheld value"
	inName      = " in a member name"
)

func ruleOf(detector string) string { return "pattern " + detector }
