package bundle

import (
	"slices"
	"strings"
)

// A Mode specifies which data is removed from a bundle.
type Mode string

// The modes. Each mode also removes everything that the previous mode removes.
const (
	Local      Mode = "local"       // nothing
	Sanitized  Mode = "sanitized"   // sensitive data; this is also the zero Mode
	ReplayOnly Mode = "replay_only" // sensitive data, prompts, arguments, and results
)

// Policies, as spelled in redaction.policy.
const (
	policyNone   = "none"
	policyOf     = "harn_vm::redact::RedactionPolicy::default+session_bundle_local_paths"
	strictSuffix = "+strict_replay_only"
)

// Replacements of removed data.
const (
	placeholder = "[redacted]"
	withheld    = "[withheld]"
	emptied     = "{}" // an object in a list of the format, one of whose names contained a secret
)

// payloadNames are the names of members that ReplayOnly withholds; the match is exact.
const payloadNames = `args arguments blocks content data private_reasoning prompt raw_input raw_output result response_text
	summary system system_prompt task text thinking visible_text`

// strictNames are the names that the strict form of ReplayOnly also withholds.
const strictNames = `input output stdout stderr message visible_text_contains`

// A manner is a mode, and whether it is strict.
type manner struct {
	mode   Mode
	strict bool
}

// newManner checks a mode.
func newManner(mode Mode, strict bool) (manner, error) {
	if mode == "" {
		mode = Sanitized
	}
	if !slices.Contains([]Mode{Local, Sanitized, ReplayOnly}, mode) {
		return manner{}, &OptionError{"Mode", "is unknown; expected local, sanitized or replay_only"}
	}
	if strict && mode != ReplayOnly {
		return manner{}, &OptionError{"Strict", "is a form of replay_only, and the mode is " + string(mode)}
	}
	return manner{mode, strict}, nil
}

func (m manner) redacts() bool   { return m.mode != Local }
func (m manner) withholds() bool { return m.mode == ReplayOnly }

// payloads reports in which manner the value of a member with that name is withheld: ReplayOnly, or
// only its strict form.
func payloads(name string) (always, strict bool) {
	return slices.Contains(strings.Fields(payloadNames), name), slices.Contains(strings.Fields(strictNames), name)
}

func (m manner) policy() string {
	switch {
	case !m.redacts():
		return policyNone
	case m.strict:
		return policyOf + strictSuffix
	}
	return policyOf
}

// rank returns the position of a mode in ascending order of removed data.
func (m Mode) rank() int { return slices.Index([]Mode{Local, Sanitized, ReplayOnly}, m) }
