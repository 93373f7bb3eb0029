package rulefile

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/receiptkit/receiptkit/redact/secret"
)

// A gitleaks value is a parsed gitleaks configuration (see the section "Configuration" in the
// gitleaks README).
type gitleaks struct {
	Title, Description, MinVersion string
	Extend                         map[string]any
	Allowlist                      *allowlist // before version 8.25
	Allowlists                     []allowlist
	Rules                          []rule
}

type rule struct {
	ID, Description string
	Regex, Path     string
	SecretGroup     int
	Entropy         float64
	Keywords, Tags  []string
	SkipReport      bool
	Allowlist       *allowlist
	Allowlists      []allowlist
	Required        []map[string]any
}

type allowlist struct {
	Description, Condition string
	Paths, Commits         []string
	RegexTarget            string
	Regexes, StopWords     []string
	TargetRules            []string
}

// ParseGitleaks converts the rules in a gitleaks configuration to valid detectors. The error is an
// *[Error].
//
// The secret is the submatch with the number secretGroup or, by default, the first non-empty
// submatch. An id is converted to a lowercase name, in which - replaces characters that a name
// cannot contain. The key extend is rejected because it refers to rules outside the file, and the
// key required is rejected because a detector searches only a single string.
func ParseGitleaks(data []byte) ([]secret.Detector, error) {
	if err := checkSize(data); err != nil {
		return nil, err
	}

	var g gitleaks
	meta, err := toml.Decode(string(data), &g)
	if err != nil {
		var at toml.ParseError
		if errors.As(err, &at) {
			return nil, &Error{Line: at.Position.Line, Detail: "invalid TOML: " + at.Message}
		}
		return nil, &Error{Detail: "invalid gitleaks configuration: " + err.Error()}
	}

	// An unknown key may change the meaning of a rule.
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, &Error{Detail: fmt.Sprintf("unknown key %q", unknown[0].String())}
	}
	return g.detectors()
}

func (g *gitleaks) detectors() ([]secret.Detector, error) {
	switch {
	case len(g.Extend) > 0:
		return nil, &Error{Detail: "extend is not supported; combine the rules in one file"}
	case len(g.Rules) > maxEntries:
		return nil, &Error{Detail: fmt.Sprintf("there are more than %d rules", maxEntries)}
	}

	var list []secret.Detector
	var ids []string
	for _, r := range g.Rules {
		// A rule with only a path applies to files, which receipts do not contain.
		if r.Regex == "" && r.Path != "" || r.SkipReport {
			continue
		}
		d, err := r.detector(g)
		if err != nil {
			err.Rule = r.ID
			return nil, err
		}
		list, ids = append(list, d), append(ids, r.ID)
	}

	// Rules are compiled here, so that an error can identify the rule in the file.
	var wrong *secret.DetectorError
	if _, err := secret.Compile(list); errors.As(err, &wrong) {
		return nil, &Error{Rule: ids[wrong.Index], Detail: wrong.Reason}
	}

	return list, nil
}

func (r *rule) detector(g *gitleaks) (secret.Detector, *Error) {
	d := secret.Detector{Name: nameOf(r.ID), Pattern: r.Regex, Group: r.SecretGroup, Entropy: r.Entropy}
	if len(r.Required) > 0 {
		return d, &Error{Detail: "required is not supported; a rule applies to a single string"}
	}
	if d.Group == 0 {
		d.Group = secret.FirstGroup
	}
	// In gitleaks, the entropy must be greater than the stated value.
	if d.Entropy > 0 {
		d.Entropy = math.Nextafter(d.Entropy, math.Inf(1))
	}

	for _, k := range r.Keywords {
		d.Keywords = append(d.Keywords, strings.ToLower(k))
	}

	// The rule's own allowlists come first, followed by the allowlists of the configuration that
	// apply to all rules or to this rule.
	lists := slices.Concat(one(r.Allowlist), r.Allowlists)
	for _, a := range slices.Concat(one(g.Allowlist), g.Allowlists) {
		if len(a.TargetRules) == 0 || slices.Contains(a.TargetRules, r.ID) {
			lists = append(lists, a)
		}
	}

	for _, a := range lists {
		allowed, ok, err := a.allowance()
		if err != nil {
			return d, err
		}
		if ok {
			d.Allowed = append(d.Allowed, allowed)
		}
	}

	return d, nil
}

func one(a *allowlist) []allowlist {
	if a == nil {
		return nil
	}
	return []allowlist{*a}
}

// allowance returns the allowance that has the same effect on a single string as the allowlist, if
// there is one.
func (a *allowlist) allowance() (secret.Allowance, bool, *Error) {
	r := secret.Allowance{Patterns: a.Regexes, StopWords: a.StopWords}
	switch strings.ToUpper(a.Condition) {
	case "", "OR", "||":
	case "AND", "&&":
		r.All = true
	default:
		return r, false, &Error{Detail: fmt.Sprintf("unknown condition %q", a.Condition)}
	}

	switch a.RegexTarget {
	case "", "secret":
	case "match":
		r.Target = secret.TargetMatch
	case "line":
		r.Target = secret.TargetLine
	default:
		return r, false, &Error{Detail: fmt.Sprintf("unknown regexTarget %q", a.RegexTarget)}
	}

	// If an allowlist requires all of its criteria, and one of them concerns paths or commits, the
	// allowlist never applies to a string.
	elsewhere := r.All && len(a.Paths)+len(a.Commits) > 0
	return r, !elsewhere && len(r.Patterns)+len(r.StopWords) > 0, nil
}

func nameOf(id string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, strings.ToLower(id))
}
