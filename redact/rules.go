package redact

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// Rules specify the values to withhold from a draft. [Upstream], [Default], and [Strict] return
// rules to use or to extend. The zero value of each field withholds nothing. [Rules.Compile]
// compiles the rules into a [Policy].
type Rules struct {
	Name string // for people

	// Pointers contains JSON Pointers (RFC 6901) to values to withhold. In a pointer, the token *
	// matches any single token. The token ** matches any number of tokens, and at least one token
	// at the end of a pointer: /metadata/** matches everything in metadata, and /metadata/**/pin
	// matches every pin in it. A pointer without such tokens must refer to a value that exists in
	// the document.
	Pointers []string

	// Names contains member names that are matched anywhere in the document. The case of ASCII
	// letters and the characters _, -, and space are ignored, so api_key also matches apiKey. A
	// name that begins with * matches all names that end with the text after the *.
	Names []string

	// Headers withholds sensitive headers. Headers are the members of an object whose name is
	// headers or ends in headers.
	Headers bool

	// Members searches each string member together with its name, as NAME="VALUE", so that
	// detectors that depend on a name also find secrets in objects. Pairs of strings, and objects
	// with separate members for a name and a value, as in lists of variables, headers, and cookies,
	// are searched in the same way.
	Members bool

	// URLs specifies in which strings secrets are removed from URLs.
	URLs URLs

	// References keeps the value of a sensitive name or URL parameter if the value is only a
	// reference, such as ${NPM_TOKEN}.
	References bool

	// Detectors search strings and names for secrets. If two detectors match the same text, the
	// placeholder has the name of the earlier detector.
	Detectors []secret.Detector
}

// URLs specifies in which strings the user information and the values of sensitive parameters are
// removed from URLs.
type URLs int

const (
	URLsKept     URLs = iota // in none
	URLsWhole                // in strings that consist of a single http or https URL, as upstream does
	URLsAnywhere             // in every string and for every scheme, including in fragments and path parameters
)

// Compile checks the rules and returns a policy that applies them. If a detector is invalid, the
// error is a *[secret.DetectorError].
func (r Rules) Compile() (*Policy, error) {
	p := &Policy{
		shape: receiptShape(),
		memberRules: memberRules{
			cleaner: cleaner{urls: newURLRule(r.URLs, r.References), detectors: map[string]bool{}},
			naming:  naming{headers: r.Headers, references: r.References},
			members: r.Members,
		},
	}

	// A policy without rules would report every draft as free of secrets, so it is likely to be a
	// mistake.
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

	// A placeholder is recognized only if it has the name of one of these detectors.
	p.scanner = scanner
	for _, d := range r.Detectors {
		p.detectors[d.Name] = true
		p.longest = max(p.longest, len(d.Name))
	}
	p.reasons = p.everyReason()
	return p, nil
}

// everyday contains the policy that [Everyday] has compiled. It does not refer to [Default], so
// that a program that never calls Everyday, such as the verification page, does not link the
// detectors.
var everyday struct {
	once   sync.Once
	policy *Policy
	err    error
}

// Everyday returns the policy for the rules from [Default]. The policy is compiled only once per
// process. All callers share the policy, including the detectors that were compiled for the strings
// of other callers.
func Everyday() (*Policy, error) {
	everyday.once.Do(func() { everyday.policy, everyday.err = Default().Compile() })
	return everyday.policy, everyday.err
}

// compilePointer rejects a pointer that is invalid or that can refer only to values that are never
// withheld.
func compilePointer(root *shape, text string) (pattern, *ruleError) {
	ptr, err := canon.ParsePointer(text)
	if err != nil {
		detail := "expected a JSON Pointer (RFC 6901)"
		if e, ok := err.(*canon.PointerError); ok {
			detail += fmt.Sprintf(": at byte %d: %s", e.Offset, e.Detail)
		}
		return pattern{}, &ruleError{Code: codeInvalidRule, Detail: detail}
	}

	// Pointers with wildcards are checked against a draft; all other pointers are checked here.
	// The root contains protected members, so every pointer that remains has a token.
	pat := pattern{text: text, tokens: ptr.Tokens()}
	if pat.wild() {
		return pat, nil
	}
	if root.find(pat.tokens).guarded() || pat.tokens[0] == "redactions" {
		return pattern{}, &ruleError{Code: codeProtectedField, Detail: "it selects a protected member of the receipt, or a member that contains one"}
	}

	return pat, nil
}

// These are the names of rules in findings and in the reasons of entries. The function ruleOf
// returns the name for a detector.
const (
	rulePointer = "pointer"
	ruleName    = "name"
	ruleHeader  = "header"
	ruleURL     = "url"
	ruleHash    = "hash of a withheld value"
	ruleEmpty   = "policy_empty"
	inName      = " in a member name"
)

func ruleOf(detector string) string { return "pattern " + detector }

// Upstream returns the rules of the protocol's own harness: its sensitive names, its rule for
// strings that consist of a single http(s) URL, and its 16 patterns. These rules miss many secrets
// and match much text that is not secret. They are intended only for comparison.
func Upstream() Rules {
	return Rules{
		Name:      "upstream",
		Names:     upstreamNames(),
		Pointers:  []string{"/**/event_log_pointers/*/path", "/**/transcript_pointers/*/path"},
		URLs:      URLsWhole,
		Detectors: secret.Upstream(),
	}
}

// Default returns the rules for everyday use: upstream's names, headers, URLs anywhere in a string,
// user names in the paths of home directories, and [secret.Default]. These detectors find more
// secrets than upstream's patterns, with fewer false positives.
func Default() Rules {
	r := Upstream()
	r.Name = "default"
	r.Headers, r.Members, r.References, r.URLs = true, true, true, URLsAnywhere
	r.Detectors = append(secret.Default(), secret.HomePath())
	return r
}

// Strict returns the rules from [Default], and additional rules that withhold content: text from
// people and models, and the inputs and results of tools. These rules match members that usually
// contain such content, by name, and the free-text members of a receipt.
func Strict() Rules {
	r := Default()
	r.Name = "strict"

	// The first line corresponds to the replay-only mode of upstream, and the second line adds
	// names that this mode omits.
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

// wild reports whether the pattern may match no value or several values.
func (p pattern) wild() bool {
	return slices.ContainsFunc(p.tokens, func(t string) bool { return t == anyToken || t == anyTokens })
}

// patterns contains the patterns of a policy.
type patterns []pattern

// A state represents a partial match: the tokens of a pattern before index at match the path to the
// current value.
type state struct{ pattern, at int }

// start returns the states for the root of the document. Only a pattern without wildcards could
// match the root itself, and such a pattern is rejected.
func (list patterns) start() []state {
	var s []state
	for i := range list {
		s = list.enter(s, state{i, 0})
	}
	return s
}

// enter adds a state to states. If the state is at **, enter also adds the state after **, because
// ** may match no tokens.
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
// that child.
func (list patterns) step(states []state, token string) (next []state, named bool) {
	if len(states) > 0 {
		next = make([]state, 0, len(states)+2)
	}

	for _, s := range states {
		tokens := list[s.pattern].tokens
		if s.at == len(tokens) {
			continue
		}
		// The last token of the pattern matches the child. A pattern at ** also stays at the same
		// position.
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
