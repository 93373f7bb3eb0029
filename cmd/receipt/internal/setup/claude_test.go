package setup

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

const line = `'/opt/my receipt/"x"<&>' hook run claude || exit 1`

// TestSettings verifies that adding a hook changes nothing else, that adding it again has no
// effect, and that removing it restores the text byte for byte.
func TestSettings(t *testing.T) {
	group := `{"hooks": [{"type": "command", "command": "'/opt/my receipt/\"x\"<&>' hook run claude || exit 1"}]}`
	event := `"SessionEnd": [` + group + `]`
	hooks := `"hooks": {` + event + `}`
	for before, want := range map[string]string{
		"{}":                      `{` + hooks + `}`,
		"{\n}\n":                  `{` + hooks + "\n}\n",
		"{\n  \"a\": 1\n}":        "{\n  " + hooks + ",\n  \"a\": 1\n}",
		"\t{ \"a\" : [1 ,2]}\r\n": "\t{ " + hooks + ", \"a\" : [1 ,2]}\r\n",
		`{"hooks":{}}`:            `{"hooks":{` + event + `}}`,
		`{"hooks":{"Stop":[ ]}}`:  `{"hooks":{` + event + `,"Stop":[ ]}}`,
		`{"hooks":{"SessionEnd":[]},"z":"\u00e9"}`:                                             `{"hooks":{"SessionEnd":[` + group + `]},"z":"\u00e9"}`,
		"{\"hooks\":{\"SessionEnd\":[\n  {\"hooks\":[{\"command\":\"x\",\"type\":\"c\"}]} ]}}": "{\"hooks\":{\"SessionEnd\":[\n  " + group + ",\n  {\"hooks\":[{\"command\":\"x\",\"type\":\"c\"}]} ]}}",
		`{"other":{"hooks":{"SessionEnd":[]}}}`:                                                `{` + hooks + `,"other":{"hooks":{"SessionEnd":[]}}}`,
	} {
		got, err := addSetting([]byte(before), line)
		if err != nil || string(got) != want {
			t.Errorf("%q: %v\n%s, expected\n%s", before, err, got, want)
			continue
		}
		if again, err := addSetting(got, line); err != nil || string(again) != want {
			t.Errorf("%q, again: %s, %v", before, again, err)
		}
		if after, found, err := cutSetting(got); err != nil || !found || string(after) != before {
			t.Errorf("%q: removing leaves %q, %v", before, after, err)
		}

		// Another program rewrites the file in its own format.
		var value, was any
		if json.Unmarshal(got, &value) != nil || json.Unmarshal([]byte(before), &was) != nil {
			t.Fatal(before)
		}
		written, _ := json.MarshalIndent(value, "", "   ")
		after, found, err := cutSetting(written)
		var left any
		if err != nil || !found || json.Unmarshal(after, &left) != nil {
			t.Errorf("%s: removing leaves %s, %v", written, after, err)
		}
		if again, _, _ := installed(after); again != "" {
			t.Errorf("%s: the hook remains", after)
		}
		if settings := was.(map[string]any); settings["hooks"] != nil && strings.Contains(before, `"command"`) && !reflect.DeepEqual(left, was) {
			t.Errorf("%s: removing leaves %s", written, after)
		}
	}
}

// TestCreatedSettings verifies that removing the hook also removes a file that the hook created,
// but no other file.
func TestCreatedSettings(t *testing.T) {
	text, err := addSetting(nil, line)
	if err != nil {
		t.Fatal(err)
	}
	if after, found, err := cutSetting(text); after != nil || !found || err != nil {
		t.Errorf("removing leaves %q, %v, %v", after, found, err)
	}
	if after, found, err := cutSetting(append(text, '\n')); string(after) == "" || !found || err != nil {
		t.Errorf("removing from a changed file leaves %q, %v, %v", after, found, err)
	}
	moved, err := addSetting(text, "/usr/bin/receipt"+runs("claude"))
	if err != nil || string(moved) != strings.Replace(string(text), `'/opt/my receipt/\"x\"<&>'`, "/usr/bin/receipt", 1) {
		t.Errorf("%s, %v", moved, err)
	}
}

// TestStrangeSettings verifies that settings in an unknown form are not changed.
func TestStrangeSettings(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "the settings are not a JSON object",
		"[]":                         "the settings are not a JSON object",
		"{} // x":                    "the settings are not a JSON object",
		"\ufeff{}":                   "the settings are not a JSON object",
		`{"hooks":[]}`:               `"hooks" of the settings is invalid`,
		`{"hooks":null}`:             `"hooks" of the settings is invalid`,
		`{"hooks":{},"hooks":{}}`:    `the settings contain "hooks" twice`,
		`{"hooks":{"SessionEnd":3}}`: `"SessionEnd" of the settings is invalid`,
	} {
		if got, err := addSetting([]byte(text), line); err == nil || err.Error() != want {
			t.Errorf("%q: %s, %v, expected %s", text, got, err, want)
		}
		if _, found, _ := cutSetting([]byte(text)); found {
			t.Errorf("%q: a hook is found", text)
		}
	}

	// If a name occurs twice, the last member applies.
	hooks, _, _ := insertions(line)
	for _, text := range []string{`{` + hooks + `,"hooks":{}}`, `{` + strings.TrimSuffix(hooks, "}") + `,"SessionEnd":[]}}`} {
		if got, err := addSetting([]byte(text), line); err == nil || !strings.HasSuffix(err.Error(), "twice") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
		if after, found, err := cutSetting([]byte(text)); !found || err != nil || !json.Valid(after) {
			t.Errorf("%q: removing leaves %s, %v", text, after, err)
		}
	}
}

// TestBlock verifies that a block is added to a shell script and can be removed without a trace.
func TestBlock(t *testing.T) {
	const block = "# receipt hook: begin\nX\n# receipt hook: end\n"
	for before, want := range map[string]string{
		"#!/bin/sh\n":                         "#!/bin/sh\n" + block,
		"#!/usr/bin/env bash\nset -e\nexit 0": "#!/usr/bin/env bash\n" + block + "set -e\nexit 0",
		"#! /bin/dash -e\r\n\nlint\n":         "#! /bin/dash -e\r\n" + block + "\nlint\n",
		blockFile:                             "#!/bin/sh\n" + block + "# Created by receipt hook install git.\n",
		"#!/bin/sh\n# receipt hook: end\nx\n": "#!/bin/sh\n" + block + "# receipt hook: end\nx\n",
	} {
		got, err := addBlock([]byte(before), "X")
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", before, got, err)
		}
		again, err := addBlock(got, "X")
		if err != nil || string(again) != want {
			t.Errorf("%q, again: %q, %v", before, again, err)
		}
		if after, found, err := cutBlock(got); err != nil || !found || string(after) != before {
			t.Errorf("%q: removing leaves %q, %v", before, after, err)
		}
	}
	for _, text := range []string{"", "lint\n", "#!/usr/bin/python3\n", "#!/bin/sh", "#!/bin/fish\n", "#!/bin/sh\n# receipt hook: begin\n"} {
		if got, err := addBlock([]byte(text), "X"); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
	created, _ := addBlock(nil, "X")
	if after, found, err := cutBlock(created); after != nil || !found || err != nil {
		t.Errorf("%q, %v, %v", after, found, err)
	}
}
