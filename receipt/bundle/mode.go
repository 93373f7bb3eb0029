package bundle

import (
	"slices"
	"strings"
)

// A Mode specifies which data is removed from a bundle.
type Mode string

// The modes. Each mode also removes the data that the previous mode removes.
const (
	Local      Mode = "local"       // nothing
	Sanitized  Mode = "sanitized"   // sensitive data; this is also the zero Mode
	ReplayOnly Mode = "replay_only" // sensitive data, prompts, arguments, and results
)

// These are the policies, as spelled in redaction.policy.
const (
	policyNone   = "none"
	policyOf     = "harn_vm::redact::RedactionPolicy::default+session_bundle_local_paths"
	strictSuffix = "+strict_replay_only"
)

// These are the replacements for removed data.
const (
	placeholder = "[redacted]"
	withheld    = "[withheld]"
	emptied     = "{}" // replaces an object in a list that the format defines, if one of the object's names contained a secret
)

// payloadNames are the names of members that ReplayOnly withholds; names must match exactly.
const payloadNames = `args arguments blocks content data private_reasoning prompt raw_input raw_output result response_text
	summary system system_prompt task text thinking visible_text`

// strictNames are the names of members that only strict ReplayOnly withholds.
const strictNames = `input output stdout stderr message visible_text_contains`

// A manner is a mode, together with the strict option.
type manner struct {
	mode   Mode
	strict bool
}

// newManner checks a mode and its strict option.
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

// payloads reports whether ReplayOnly always withholds the value of a member with the given name,
// and whether only strict ReplayOnly does so.
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

// rank returns the position of a mode in the list of modes, which begins with the mode that removes
// least.
func (m Mode) rank() int { return slices.Index([]Mode{Local, Sanitized, ReplayOnly}, m) }
