package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Names in the settings of Claude Code.
const (
	hooksName   = "hooks"
	sessionName = "SessionEnd"
)

// A span is a part of a string.
type span struct{ from, to int }

// An item is a member of an object, or an element of an array.
type item struct {
	name         string // of a member
	whole, value span
}

// items returns the members or the elements of the value in a span. The value must be valid JSON.
func items(text []byte, in span) (list []item) {
	dec := json.NewDecoder(bytes.NewReader(text[in.from:in.to]))
	open, _ := dec.Token()
	for dec.More() {
		at := in.from + int(dec.InputOffset())
		at += len(text[at:in.to]) - len(bytes.TrimLeft(text[at:in.to], " \t\r\n,"))
		var one item
		if open == json.Delim('{') {
			name, _ := dec.Token()
			one.name, _ = name.(string)
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return list
		}
		end := in.from + int(dec.InputOffset())
		one.whole, one.value = span{at, end}, span{end - len(raw), end}
		list = append(list, one)
	}
	return list
}

// container returns the value of the member with the given name. The value must be an array or an
// object, depending on first, which is '[' or '{'.
func container(text []byte, in span, name string, first byte) (value span, found bool, err error) {
	for _, i := range items(text, in) {
		switch {
		case i.name != name:
		case found:
			return value, false, fmt.Errorf("the settings contain %q twice", name)
		case text[i.value.from] != first:
			return value, false, fmt.Errorf("%q of the settings is invalid", name)
		default:
			value, found = i.value, true
		}
	}
	return value, found, nil
}

// settings returns the span of the outermost object in a string.
func settings(text []byte) (span, error) {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	if !json.Valid(text) || trimmed[0] != '{' {
		return span{}, errors.New("the settings are not a JSON object")
	}
	return span{len(text) - len(trimmed), len(bytes.TrimRight(text, " \t\r\n"))}, nil
}

// insert adds a member or an element at the beginning of a container. It copies the whitespace
// before the member or element that follows.
func insert(text []byte, in span, one string) []byte {
	at := in.from + 1
	rest := bytes.TrimLeft(text[at:], " \t\r\n")
	if c := rest[0]; c != '}' && c != ']' {
		one = string(text[at:len(text)-len(rest)]) + one + ","
	}
	return []byte(string(text[:at]) + one + string(text[at:]))
}

// insertions returns the strings that add a command to three kinds of settings: settings without
// hooks, hooks without SessionEnd, and hooks with SessionEnd.
func insertions(line string) (hooks, event, group string) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(line) // encoding a string cannot fail
	group = `{"hooks": [{"type": "command", "command": ` + strings.TrimSpace(b.String()) + `}]}`
	event = `"` + sessionName + `": [` + group + `]`
	return `"` + hooksName + `": {` + event + `}`, event, group
}

// created returns the settings for a user who has no settings yet. Adding a hook to existing
// settings never produces this text. Therefore, a file that contains exactly this text can be
// removed together with the hook.
func created(line string) []byte {
	hooks, _, _ := insertions(line)
	return []byte("{\n  " + hooks + "\n}\n")
}

// addSetting adds the command to the SessionEnd hooks, and replaces an earlier command of this
// program.
func addSetting(text []byte, line string) ([]byte, error) {
	if text == nil {
		return created(line), nil
	}
	root, err := settings(text)
	if err != nil {
		return nil, err
	}
	hooks, event, group := insertions(line)
	in, found, err := container(text, root, hooksName, '{')
	if err != nil || !found {
		return insert(text, root, hooks), err
	}
	of, found, err := container(text, in, sessionName, '[')
	if err != nil || !found {
		return insert(text, in, event), err
	}

	switch had, _, err := installed(text); {
	case err != nil || had == line:
		return text, err
	case had != "":
		if text, _, err = cutSetting(text); err != nil {
			return nil, err
		}
		return addSetting(text, line)
	}
	return insert(text, of, group), nil
}

// installed returns this program's command among the SessionEnd hooks, and the containers around
// the command, starting with the outermost. The last container is the array of hooks in the
// command's group.
func installed(text []byte) (line string, around []item, err error) {
	root, err := settings(text)
	if err != nil {
		return "", nil, err
	}
	line, around = find(text, []item{{value: root}}, hooksName, sessionName, "", hooksName, "")
	return line, around, nil
}

// find searches the last item in around for this program's command. Each name selects a member of
// the next level, and an empty name stands for all elements.
func find(text []byte, around []item, names ...string) (line string, all []item) {
	in := around[len(around)-1].value
	if len(names) == 0 {
		var command struct{ Command string }
		if json.Unmarshal(text[in.from:in.to], &command) == nil && strings.HasSuffix(command.Command, runs("claude")) {
			return command.Command, around
		}
		return "", nil
	}
	for _, i := range items(text, in) {
		if i.name != names[0] {
			continue
		}
		if line, all = find(text, append(slices.Clip(around), i), names[1:]...); line != "" {
			break
		}
	}
	return line, all
}

// cutSetting removes the command. If nothing else around it has changed, it restores the text from
// before the command was added. If addSetting created the file and no other text remains, after is
// nil.
func cutSetting(text []byte) (after []byte, found bool, err error) {
	if text == nil {
		return nil, false, nil
	}
	line, around, err := installed(text)
	if err != nil || line == "" {
		return nil, false, err
	}
	if bytes.Equal(text, created(line)) {
		return nil, true, nil
	}
	if before := undo(text, line); before != nil {
		return before, true, nil
	}

	// Another program has written the file since then. Containers that would become empty are also
	// removed.
	for n := len(around) - 1; n > 0; n-- {
		in := around[n-1].value
		if siblings := items(text, in); len(siblings) > 1 || n == 1 {
			return cutItem(text, in, siblings, around[n]), true, nil
		}
	}
	return nil, false, nil
}

// undo returns the text to which addSetting added the command. It returns nil if no such text
// exists.
func undo(text []byte, line string) []byte {
	hooks, event, group := insertions(line)
	for _, one := range []string{hooks, event, group} {
		for at := 0; ; at++ {
			next := bytes.Index(text[at:], []byte(one))
			if next < 0 {
				break
			}
			at += next
			head, tail := text[:at], text[at+len(one):]
			if bytes.HasPrefix(tail, []byte(",")) {
				head, tail = bytes.TrimRight(head, " \t\r\n"), tail[1:]
			}
			before := []byte(string(head) + string(tail))
			if had, _, err := installed(before); err != nil || had != "" {
				continue
			}
			if again, err := addSetting(before, line); err == nil && bytes.Equal(again, text) {
				return before
			}
		}
	}
	return nil
}

// cutItem removes an item from a container, together with the comma before or after the item.
func cutItem(text []byte, in span, siblings []item, one item) []byte {
	cut := span{in.from + 1, in.to - 1}
	for i, s := range siblings {
		switch {
		case s.whole != one.whole:
		case i+1 < len(siblings):
			cut = span{s.whole.from, siblings[i+1].whole.from}
		case i > 0:
			cut = span{siblings[i-1].whole.to, s.whole.to}
		}
	}
	return []byte(string(text[:cut.from]) + string(text[cut.to:]))
}
