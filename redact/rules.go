package redact

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// Rules specify which values to withhold. [Upstream], [Default], and [Strict] return rules to use
// or to extend. A zero field withholds nothing. [Rules.Compile] compiles the rules into a [Policy].
type Rules struct {
	Name string // for people

	// Pointers are JSON Pointers (RFC 6901). In a pointer, the token * matches any single token.
	// The token ** matches any number of tokens, but at least one at the end of the pointer:
	// /metadata/** is everything in metadata, and /metadata/**/pin is every pin in it. A pointer
	// without such tokens must refer to a value in the document.
	Pointers []string

	// Names lists member names that match anywhere in the document. The case of ASCII letters and
	// the characters _, -, and space are ignored: api_key also matches apiKey. A name that begins
	// with * matches all names that end in the rest of it.
	Names []string

	// Headers withholds sensitive headers: members of an object whose name is headers or ends in
	// headers.
	Headers bool

	// Members searches a string member together with its name, as NAME="VALUE", so that detectors
	// that depend on a name find secrets in objects as they do in texts. Objects with a name and a
	// value, as in lists of variables, headers, and cookies, and pairs of strings are also treated
	// as members.
	Members bool

	// URLs specifies in which strings URLs are cleaned.
	URLs URLs

	// References keeps the value of a sensitive name or URL parameter if the value is only a
	// reference, such as ${NPM_TOKEN}.
	References bool

	// Detectors find secrets in strings and in names. If two detectors match the same text, the
	// earlier detector determines the name.
	Detectors []secret.Detector
}

// URLs specifies in which strings a URL loses its user information and the values of its
// sensitive parameters.
type URLs int

const (
	URLsKept     URLs = iota // in none
	URLsWhole                // in strings that consist of one http or https URL: upstream's rule
	URLsAnywhere             // in every string, for every scheme, including in fragments and path parameters
)

// Compile checks the rules. The error for a detector is a *[secret.DetectorError].
func (r Rules) Compile() (*Policy, error) {
	p := &Policy{
		shape: receiptShape(),
		memberRules: memberRules{
			cleaner: cleaner{urls: newURLRule(r.URLs, r.References), detectors: map[string]bool{}},
			naming:  naming{headers: r.Headers, references: r.References},
			members: r.Members,
		},
	}

	// If a policy without rules were compiled by mistake, it would report every draft as clean.
	if len(r.Pointers)+len(r.Names)+len(r.Detectors) == 0 && !r.Headers && r.URLs == URLsKept {
		return nil, &ruleError{Rule: "policy", Code: codeInvalidRule, Detail: "policy has no rules, so nothing would be withheld"}
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

	// Only placeholders with these detectors' names are recognized.
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

// Everyday returns the policy for [Default], which is compiled once per process. All callers share
// the policy, including detectors that were compiled for other callers' texts.
func Everyday() (*Policy, error) {
	everyday.once.Do(func() { everyday.policy, everyday.err = Default().Compile() })
	return everyday.policy, everyday.err
}

// compilePointer rejects an invalid pointer, and a pointer that can refer only to a value that is
// never withheld.
func compilePointer(root *shape, text string) (pattern, *ruleError) {
	ptr, err := canon.ParsePointer(text)
	if err != nil {
		detail := "expected a JSON Pointer (RFC 6901)"
		if e, ok := err.(*canon.PointerError); ok {
			detail += fmt.Sprintf(": at byte %d: %s", e.Offset, e.Detail)
		}
		return pattern{}, &ruleError{Code: codeInvalidRule, Detail: detail}
	}

	// A pointer with wildcards is checked against a draft; any other pointer is checked here.
	pat := pattern{text: text, tokens: ptr.Tokens()}
	if pat.wild() {
		return pat, nil
	}
	if root.find(pat.tokens).guarded() || len(pat.tokens) > 0 && pat.tokens[0] == "redactions" {
		return pattern{}, &ruleError{Code: codeProtectedField, Detail: "it selects a protected member of the receipt, or a member that contains one"}
	}

	return pat, nil
}

// Names of rules, used in findings and in the reasons of entries. ruleOf returns a detector's name.
const (
	rulePointer = "pointer"
	ruleName    = "name"
	ruleHeader  = "header"
	ruleURL     = "url"
	ruleHash    = "hash of a withheld value"
	inName      = " in a member name"
)

func ruleOf(detector string) string { return "pattern " + detector }

// Upstream returns the rules of the protocol's own harness: its sensitive names, its rule for
// strings that consist of one http(s) URL, and its 16 patterns. These rules miss many secrets and
// match many other texts. Use them only for comparison.
func Upstream() Rules {
	return Rules{
		Name:      "upstream",
		Names:     upstreamNames(),
		Pointers:  []string{"/**/event_log_pointers/*/path", "/**/transcript_pointers/*/path"},
		URLs:      URLsWhole,
		Detectors: secret.Upstream(),
	}
}

// Default returns the rules for everyday use: upstream's names, headers, URLs anywhere in a text,
// the name of a home directory, and [secret.Default], which finds more secrets and produces fewer
// false positives.
func Default() Rules {
	r := Upstream()
	r.Name = "default"
	r.Headers, r.Members, r.References, r.URLs = true, true, true, URLsAnywhere
	r.Detectors = append(secret.Default(), secret.HomePath())
	return r
}

// Strict returns the rules of [Default], and additionally withholds content from people and models:
// the members that usually contain it, by name, and a receipt's free-text members. This includes
// the inputs and results of tools.
func Strict() Rules {
	r := Default()
	r.Name = "strict"

	// The first line corresponds to upstream's replay-only mode, and the second line adds names
	// that this mode omits.
	r.Names = append(r.Names, strings.Fields(`
		args arguments blocks content data private_reasoning prompt raw_input raw_output result response_text summary system system_prompt task text thinking visible_text
		input output stdout stderr message title description`)...)
	r.Pointers = append(r.Pointers, strings.Fields(`
		/lifecycle/failure/**/details
		/**/unavailable_reason
		/replay_input/materials/*/bytes_base64
		/model_route/**/reason
		/model_route/**/route_policy_reason
		/side_effects/network_egress/*/purpose
		/side_effects/tool_calls/*/metadata/**
		/deltas/*/reason`)...)

	return r
}

// A pattern is a JSON Pointer with wildcards.
type pattern struct {
	text   string
	tokens []string
}

const (
	anyToken  = "*"
	anyTokens = "**"
)

// wild reports whether the pattern may match several values, or none.
func (p pattern) wild() bool {
	return slices.ContainsFunc(p.tokens, func(t string) bool { return t == anyToken || t == anyTokens })
}

// patterns are a policy's patterns.
type patterns []pattern

// A state means that a pattern's tokens before at lead to the current value.
type state struct{ pattern, at int }

// start returns the states for the entire document. Only a pattern without wildcards could match
// the document itself, and such a pattern is rejected.
func (list patterns) start() []state {
	var s []state
	for i := range list {
		s = list.enter(s, state{i, 0})
	}
	return s
}

// enter adds a state. If the state is at a **, enter also adds the state after it, because ** may
// match no token.
func (list patterns) enter(states []state, s state) []state {
	tokens := list[s.pattern].tokens
	for {
		if !slices.Contains(states, s) {
			states = append(states, s)
		}
		if s.at+1 >= len(tokens) || tokens[s.at] != anyTokens {
			return states
		}
		s.at++
	}
}

// step returns the states for the child with the given token, and reports whether a pattern matches
// the child.
func (list patterns) step(states []state, token string) (next []state, named bool) {
	if len(states) > 0 {
		next = make([]state, 0, len(states)+2)
	}

	for _, s := range states {
		tokens := list[s.pattern].tokens
		if s.at == len(tokens) {
			continue
		}
		// The last token matches the child. At **, a pattern also keeps its position.
		switch t := tokens[s.at]; {
		case t == anyTokens:
			named = named || s.at+1 == len(tokens)
			next = list.enter(next, s)
		case t == anyToken || t == token:
			named = named || s.at+1 == len(tokens)
			next = list.enter(next, state{s.pattern, s.at + 1})
		}
	}

	return next, named
}
