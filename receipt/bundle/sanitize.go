package bundle

// Sanitize removes from a bundle the data that the given mode removes. The mode must remove at
// least as much as the mode of the bundle. A new list of removals is created. It keeps an old entry
// if the entry is consistent with the bundle but a second pass cannot find the removal, for example
// because a token was replaced within a string. Sanitizing the result again changes nothing.
//
// The strict option modifies ReplayOnly (see [Options]); a strict bundle stays strict. The error is
// an *[Error], or an *[OptionError].
func Sanitize(b *Bundle, mode Mode, strict bool) (*Text, error) {
	r, err := prepared()
	if err != nil {
		return nil, err
	}
	m, err := newManner(mode, strict)
	if err != nil {
		return nil, err
	}
	if m.mode == Local {
		return nil, &OptionError{"Mode", "is local, which removes nothing"}
	}

	found := newMarks(r.marker)
	info, err := check(r, b, AllowMarkers, found) // secrets are removed, not refused
	if err != nil {
		return nil, err
	}

	if info.Mode.rank() > m.mode.rank() {
		return nil, &Error{WeakerMode, "$.redaction.mode", "it is " + string(info.Mode) + ", and cannot become " + string(m.mode)}
	}

	// A bundle that was strict stays strict.
	old := manner{ReplayOnly, true}
	m.strict = m.strict || m.withholds() && string(b.root().member("redaction").member("policy").content()) == old.policy()

	// Nothing was removed from a local bundle, even if its list of removals is not empty.
	found.paths = m.strict
	found.search(b.doc.Root())
	var before prior
	if info.Mode != Local {
		before = priorOf(found, b.root())
	}

	entries := new([]Entry)
	return newText(&Text{
		root: with(b.root(), "redaction", manifest(m, entries)), listed: entries, manner: m, marks: found, shape: r.shape,
	}, before)
}

// with returns a copy of an object in which the named member has another value.
func with(v value, name string, other value) value {
	members := []member{{name, other}}
	for _, p := range v.appendPairs(nil) {
		if string(p.name) != name {
			members = append(members, member{string(p.name), p.value})
		}
	}
	return object(members...)
}
