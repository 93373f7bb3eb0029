package receipt

import "fmt"

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
