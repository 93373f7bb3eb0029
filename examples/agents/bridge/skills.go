package bridge

import (
	"cmp"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt/record/event"
)

// A SkillRef names a skill of the host.
type SkillRef struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Source      string `json:"source"`
}

const skillsList, skillsFetch = "skills/list", "skills/fetch"

// ParseSkills reads the answer to skills/list: an array, or {skills: […]}. An entry with
// one of id and name has both.
func ParseSkills(answer *Message) ([]SkillRef, error) {
	entries, ok := list(answer.Root.Member("result"), "skills")
	if !ok {
		return nil, shapeError(skillsList, "an array of skills, alone or as the member skills")
	}
	refs := []SkillRef{}
	for _, n := range entries.Elements() {
		id, name := text(n.Member("id")), text(n.Member("name"))
		if id == "" && name == "" {
			return nil, shapeError(skillsList, "every skill to be an object with an id or a name")
		}
		refs = append(refs, SkillRef{cmp.Or(id, name), cmp.Or(name, id), text(n.Member("description")), text(n.Member("source"))})
	}
	return refs, nil
}

// A Skill is what a model can be given to read, and what that allows.
type Skill struct {
	Name, Description, Body string

	WhenToUse    string
	AllowedTools []string // nil: nobody said; none allowed is empty
	Paths        []string
	Model        string
}

// ParseSkill reads the answer to skills/fetch. What the manifest does not say is looked for
// beside it: some hosts have no manifest.
func ParseSkill(answer *Message) (Skill, error) {
	n := answer.Root.Member("result")
	name := text(n.Member("name"))
	if name == "" {
		return Skill{}, shapeError(skillsFetch, "an object with a name")
	}
	told := func(member string) canon.Node {
		if m := n.Member("manifest").Member(member); !event.Absent(m) {
			return m
		}
		return n.Member(member)
	}

	s := Skill{Name: name, Description: text(told("description")), Body: text(n.Member("body"))}
	s.WhenToUse, s.Paths, s.Model = text(told("when_to_use")), texts(told("paths")), text(told("model"))
	if allowed := told("allowed_tools"); allowed.Kind() == canon.KindArray {
		s.AllowedTools = append([]string{}, texts(allowed)...)
	} else if !event.Absent(allowed) { // it restricts in a way that cannot be read
		return Skill{}, shapeError(skillsFetch, "allowed_tools to be an array")
	}
	return s, nil
}

// A Catalogue is what the runtime knows of the host's skills. It is read anew between two
// iterations, never within one.
type Catalogue struct {
	Skills []SkillRef

	told, read int // updates; those before the list was asked for
	known      bool
}

// Updated is the catalogue after skills/update.
func (c Catalogue) Updated() Catalogue { c.told++; return c }

// Stale reports whether the host has to be asked before the next iteration.
func (c Catalogue) Stale() bool { return !c.known || c.read < c.told }

// Listed is the catalogue with what the host answered when it was asked at a time when
// the catalogue was asked. What changed since then is still to be read.
func (c Catalogue) Listed(asked Catalogue, skills []SkillRef) Catalogue {
	c.Skills, c.read, c.known = skills, asked.told, true
	return c
}
