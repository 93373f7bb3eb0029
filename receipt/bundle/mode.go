package bundle

import (
	"slices"
	"strings"
)

// A Mode says what is taken out of a bundle.
type Mode string

// The modes, each with what the one before takes out.
const (
	Local      Mode = "local"       // nothing
	Sanitized  Mode = "sanitized"   // what is sensitive; the zero Mode is this one
	ReplayOnly Mode = "replay_only" // and what was said and returned
)

// Policies, as redaction.policy names them.
const (
	policyNone   = "none"
	policyOf     = "harn_vm::redact::RedactionPolicy::default+session_bundle_local_paths"
	strictSuffix = "+strict_replay_only"
)

// What stands in the place of what was taken out.
const (
	placeholder = "[redacted]"
	withheld    = "[withheld]"
	emptied     = "{}" // an object of a list of the format, in which a name was a secret
)

// payloadNames are the names of members that ReplayOnly withholds, letter for letter.
const payloadNames = `args arguments blocks content data private_reasoning prompt raw_input raw_output result response_text
	summary system system_prompt task text thinking visible_text`

// strictNames are those that it withholds too when it is strict.
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

// payloads says which manner withholds the value of a member of that name: ReplayOnly, or that
// when it is strict.
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

// rank orders modes by what they take out.
func (m Mode) rank() int { return slices.Index([]Mode{Local, Sanitized, ReplayOnly}, m) }
