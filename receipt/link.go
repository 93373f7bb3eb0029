package receipt

import (
	"fmt"
	"slices"
)

// Link tells a report how its receipt stands to the others of its stream, which
// the receipt alone cannot show, and draws the conclusion anew. The check's
// status is Passed, Failed or NotChecked; a place that the receipt's own form
// refuted stays so. Package stream calls it.
func (v *Verifier) Link(rep *Report, c Check) {
	c.Step = StepLink
	for i := range rep.Checks {
		found := &rep.Checks[i]
		if found.Step != StepLink || found.Status != NotChecked || found.Code != CodeLinkNotChecked {
			continue
		}
		rep.dropNote(CodeLinkNotChecked)
		*found = c
		if c.Status == NotChecked {
			rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
		}
		v.conclude(rep)
		return
	}
}

// Warn adds a warning, which never changes a verdict.
func (r *Report) Warn(code Code, pointer, detail string) { r.warn(code, pointer, detail) }

// dropNote removes the first note of a code.
func (r *Report) dropNote(code Code) {
	for i, n := range r.NotChecked {
		if n.Code == code {
			r.NotChecked = append(r.NotChecked[:i], r.NotChecked[i+1:]...)
			return
		}
	}
}

// Address names the receipt for a person: its source, and behind a colon the
// line or item when the source holds more than one.
func (r *Report) Address() string {
	if !r.Listed {
		return r.Source
	}
	return fmt.Sprintf("%s:%d", r.Source, r.Index)
}

// Unreadable writes the report of a document that was no JSON text to begin with,
// such as a malformed CBOR item or a line that is too long. The check says why;
// its status is Failed, or NotChecked when more of the input would be needed.
func (v *Verifier) Unreadable(rep *Report, c Check) {
	v.begin(rep)
	c.Step = StepParse
	rep.Checks = append(rep.Checks, c)
	if c.Status == NotChecked {
		rep.NotChecked = append(rep.NotChecked, Note{c.Code, c.Pointer, c.Detail})
	}
	v.conclude(rep)
}

// Policy returns what the verifier asks for.
func (v *Verifier) Policy() Policy {
	p := v.policy
	p.Witnesses.Keys = slices.Clone(p.Witnesses.Keys)
	p.Checkpoint.Cosigners.Keys = slices.Clone(p.Checkpoint.Cosigners.Keys)
	return p
}

// Scope returns how much the verifier asks for.
func (v *Verifier) Scope() Scope {
	if v.policy.IntegrityOnly {
		return ScopeIntegrity
	}
	return ScopeFull
}
