package kind

import (
	"encoding/json"
	"strings"
)

// A sketch is a JSON value as far as it is seen: members of objects and the first elements of
// arrays, to a depth. The zero sketch is a value that is not there.
type sketch struct {
	object, array bool
	text          string // of a string
	number        float64
	is            bool // it is there
	members       map[string]sketch
	first         []sketch // the first element of an array; none if it is empty
}

// What a sketch holds.
const sketchDepth = 4

// sketchOf reads the first value of a text. What follows an error is not seen.
func sketchOf(text string) sketch {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	s, _ := sketched(d, sketchDepth)
	return s
}

// sketched reads a value; false when it is not seen to its end.
func sketched(d *json.Decoder, depth int) (s sketch, whole bool) {
	t, err := d.Token()
	if err != nil {
		return s, false
	}
	s.is = true
	switch v := t.(type) {
	case string:
		s.text = v
	case json.Number:
		s.number, _ = v.Float64()
	case json.Delim:
		if s.object = v == '{'; s.object {
			return s.readMembers(d, depth)
		}
		s.array = true
		return s.readElements(d, depth)
	}
	return s, true
}

func (s sketch) readMembers(d *json.Decoder, depth int) (sketch, bool) {
	s.members = map[string]sketch{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return s, false
		}
		member, whole := sketched(d, depth-1)
		if depth > 0 && member.is {
			s.members[name.(string)] = member // a name, as More has shown
		}
		if !whole {
			return s, false
		}
	}
	_, err := d.Token()
	return s, err == nil
}

func (s sketch) readElements(d *json.Decoder, depth int) (sketch, bool) {
	for d.More() {
		x, whole := sketched(d, depth-1)
		if depth > 0 && s.first == nil && x.is {
			s.first = []sketch{x}
		}
		if !whole || depth == sketchDepth { // of a file that is an array, one element is enough
			return s, false
		}
	}
	_, err := d.Token()
	return s, err == nil
}

// at is the member at a path of names, each of the one before.
func (s sketch) at(names ...string) sketch {
	for _, name := range names {
		s = s.members[name]
	}
	return s
}

func (s sketch) has(names ...string) bool {
	for _, name := range names {
		if !s.members[name].is {
			return false
		}
	}
	return true
}

// of is the first element of an array.
func (s sketch) of() sketch {
	if len(s.first) == 0 {
		return sketch{}
	}
	return s.first[0]
}

// starts reports whether the text at a member begins with one of these.
func (s sketch) starts(name string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s.members[name].text, p) {
			return true
		}
	}
	return false
}

// among reports whether the text at a member is one of these.
func (s sketch) among(name string, words ...string) bool {
	for _, w := range words {
		if s.members[name].text == w {
			return true
		}
	}
	return false
}
