package redact

import "strings"

// receiptTable lists the replacements for withheld values that keep a receipt valid; a test derives
// the same list from the schema. Any location that is not listed accepts a placeholder, because it
// is free text or is in an open object.
//
//	protected  never withheld, nor is any value inside it or any value that contains it
//	list       redactions[], to which rules by pointer and name do not apply
//	text       accepts a placeholder
//	drop       optional, but not text: the member is removed
//	refuse     required, but not text: the value cannot be withheld
//	open       an open object, withheld as {}
//
// Any other word is the JSON value that replaces the withheld value. An object or array element in
// which all locations are listed is treated as if it were listed as refuse. Elements are never
// removed, so that indexes do not change.
const receiptTable = `
protected /schema
protected /receipt_id
protected /subject
protected /issuer
protected /issued_at
protected /identifiers
protected /chain
protected /lifecycle/final_state

drop      /lifecycle/created_at
refuse    /lifecycle/started_at
refuse    /lifecycle/completed_at
open      /lifecycle/failure

[]        /approvals
refuse    /approvals/*/decision
refuse    /approvals/*/decided_at
open      /approvals/*/quorum_proof
drop      /approvals/*/evidence_hash

refuse    /trust/start_tier
refuse    /trust/end_tier

{"consumed":{}} /autonomy_budget
{}        /autonomy_budget/limit
drop      /autonomy_budget/limit/*
{}        /autonomy_budget/consumed
drop      /autonomy_budget/consumed/*

refuse    /replay_input/determinism
[]        /replay_input/materials
refuse    /replay_input/materials/*/kind
drop      /replay_input/materials/*/sha256
drop      /replay_input/materials/*/bytes_base64
open      /replay_input/materials/*/metadata

{"alternatives_considered":[],"chosen_model":{"model":"[redacted]","provider":"[redacted]"},"route_policy_reason":"[redacted]"} /model_route
{"model":"[redacted]","provider":"[redacted]"} /model_route/chosen_model
[]        /model_route/alternatives_considered
{"model":"[redacted]","provider":"[redacted]"} /model_route/alternatives_considered/*

refuse    /cost/currency
refuse    /cost/total
[]        /cost/provider_breakdown
refuse    /cost/provider_breakdown/*/amount
drop      /cost/provider_breakdown/*/input_tokens
drop      /cost/provider_breakdown/*/output_tokens
open      /cost/provider_breakdown/*/metadata

{"a2a_handoffs":[],"fs_writes":[],"network_egress":[],"tool_calls":[]} /side_effects
[]        /side_effects/fs_writes
refuse    /side_effects/fs_writes/*/operation
drop      /side_effects/fs_writes/*/before_sha256
drop      /side_effects/fs_writes/*/after_sha256
[]        /side_effects/network_egress
{"destination":"[redacted]","purpose":"[redacted]"} /side_effects/network_egress/*
drop      /side_effects/network_egress/*/bytes_sent
open      /side_effects/network_egress/*/metadata
[]        /side_effects/tool_calls
refuse    /side_effects/tool_calls/*/status
drop      /side_effects/tool_calls/*/input_hash
drop      /side_effects/tool_calls/*/output_hash
open      /side_effects/tool_calls/*/metadata
[]        /side_effects/a2a_handoffs
refuse    /side_effects/a2a_handoffs/*/status

[]        /final_artifacts
{"artifact_id":"[redacted]","kind":"[redacted]"} /final_artifacts/*
drop      /final_artifacts/*/sha256

[]        /deltas
refuse    /deltas/*/operation
drop      /deltas/*/before_sha256
drop      /deltas/*/after_sha256

list      /redactions
list      /redactions/*
text      /redactions/*/field
text      /redactions/*/reason
drop      /redactions/*/proof_hash

open      /metadata
`

// Protected reports whether the value at a JSON Pointer is never withheld, because it is a member
// that identifies the receipt, is part of such a member, or contains one.
func Protected(pointer []byte) bool {
	for _, member := range [...]string{"/schema", "/receipt_id", "/subject", "/issuer", "/issued_at", "/identifiers", "/chain", "/lifecycle/final_state"} {
		n := min(len(pointer), len(member))
		ends := len(pointer) == len(member) || len(pointer) > n && pointer[n] == '/' || len(member) > n && member[n] == '/'
		if ends && string(pointer[:n]) == member[:n] {
			return true
		}
	}
	return false
}

// A form specifies how a withheld value is replaced.
type form uint8

const (
	formText    form = iota // a placeholder
	formRefuse              // nothing
	formDrop                // the member is removed
	formLiteral             // shape.literal
)

// A shape describes a location in a receipt. The nil shape represents a location that accepts a
// placeholder, as do all locations below it.
type shape struct {
	members   map[string]*shape // "*" represents all elements, or all members
	form      form
	literal   string
	open      bool // the object may have members with any name
	protected bool
	holds     bool // the value contains a protected member
	list      bool // the location is redactions[] or an entry in it
	hashes    []hashRule
}

// receiptShape creates the shape of a receipt from the tables.
func receiptShape() *shape {
	root := &shape{form: formRefuse}
	for line := range strings.Lines(receiptTable) {
		what, path, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}

		s := root.grow(strings.TrimSpace(path))
		switch what {
		case "protected":
			s.form, s.protected = formRefuse, true
			root.mark(strings.TrimSpace(path))
		case "list":
			s.form, s.list = formRefuse, true
		case "text":
			s.form = formText
		case "drop":
			s.form = formDrop
		case "refuse":
			s.form = formRefuse
		case "open":
			s.form, s.literal, s.open = formLiteral, "{}", true
		default:
			s.form, s.literal = formLiteral, what
		}
	}

	for _, r := range hashRules() {
		s := root.grow(r.element)
		s.hashes = append(s.hashes, r)
	}

	return root
}

// grow returns the shape at a path, and creates it if necessary.
func (s *shape) grow(path string) *shape {
	for token := range strings.SplitSeq(path[1:], "/") {
		next := s.members[token]
		if next == nil {
			next = &shape{form: formRefuse}
			if s.members == nil {
				s.members = map[string]*shape{}
			}
			s.members[token] = next
		}
		s = next
	}
	return s
}

// mark records a protected member in each shape above the member's path.
func (s *shape) mark(path string) {
	for token := range strings.SplitSeq(path[1:], "/") {
		s.holds = true
		s = s.members[token]
	}
}

// child returns the shape of a member or an element.
func (s *shape) child(token string) *shape {
	switch {
	case s == nil || s.open:
		return nil
	case s.protected:
		return s
	}
	if c := s.members[token]; c != nil {
		return c
	}
	return s.members[anyToken]
}

// find returns the shape of the location to which the tokens refer.
func (s *shape) find(tokens []string) *shape {
	for _, t := range tokens {
		s = s.child(t)
	}
	return s
}

// guarded reports whether the value at this location is never withheld.
func (s *shape) guarded() bool { return s != nil && (s.protected || s.holds || s.list) }

// inList reports whether the location is redactions[] or an entry in it.
func (s *shape) inList() bool { return s != nil && s.list }

func (s *shape) isMaterial() bool {
	return s != nil && s.members["bytes_base64"] != nil
}
