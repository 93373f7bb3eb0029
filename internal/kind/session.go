package kind

import (
	"encoding/json"
	"strings"
)

// Hints for sessions in unsupported formats.
const (
	exportOpenCode = "export the session with the agent: opencode export SESSION > FILE"
	exportGoose    = "goose session export --session-id ID --format json exports this form, which is not read yet"
	exportOTLP     = "export it as OTLP, which is read"
	readTelemetry  = "logs of Claude Code, Codex, Copilot CLI, OpenCode, Gemini CLI, and Pi are read, and ATIF or telemetry (OTLP) if the agent exports it"
)

// sessions lists the tests that recognize agent logs, in the order in which they are tried. A test
// must not match a log that is supported under another name. Specified formats precede all others,
// because their tests are more specific.
func sessions() []sign {
	return []sign{
		supported("a trajectory (ATIF)", "atif", func(s sketch) bool { return s.starts("schema_version", "ATIF-v1.") && s.at("steps").array }),
		declined("a trajectory in another version of ATIF", readTelemetry, func(s sketch) bool { return s.starts("schema_version", "ATIF-v") && s.at("steps").array }),
		declined("a trajectory of SWE-agent", readTelemetry, func(s sketch) bool {
			return s.at("info").has("exit_status") && (s.has("trajectory", "history") || s.at("messages").array)
		}),
		supported("a session of OpenCode", "opencode", func(s sketch) bool {
			return s.at("info").object && s.at("messages").array && (len(s.at("messages").first) == 0 || s.at("messages").of().has("info", "parts"))
		}),
		supported("a session of Gemini CLI", "gemini-cli", isGemini),
		declined("a session of GitHub Copilot Chat (VS Code)", readTelemetry, func(s sketch) bool {
			return isCopilot(s) && s.at("data").has("vscodeVersion") || s.has("requests", "responderUsername")
		}),
		supported("a session of GitHub Copilot CLI", "copilot-cli", isCopilot),
		declined("a session of OpenClaw", readTelemetry, func(s sketch) bool { return isPi(s) && s.at("version").number >= 7 }),
		supported("a session of Pi", "pi", isPi),
		declined("a session of omp", readTelemetry, func(s sketch) bool { return s.among("type", "session_init") }),
		declined("a session of Qwen Code", readTelemetry, isQwen),
		declined("a session of iFlow", readTelemetry, isIFlow),

		// Some programs write one array per session. The test then applies to the first element.
		declined("a session of Cursor", readTelemetry, isCursor),
		declined("a session of Cline or Roo Code", readTelemetry, isCline),
		declined("a session of Goose", exportGoose, func(s sketch) bool { return s.has("conversation", "working_dir", "accumulated_usage") }),
		declined("a session of Amp", readTelemetry, func(s sketch) bool { return s.has("v") && s.starts("id", "T-") && s.at("messages").array }),
		declined("a session of Droid (Factory)", readTelemetry, func(s sketch) bool { return s.among("type", "session_start") && s.has("owner", "sessionTitle") }),
		declined("a session of Windsurf", readTelemetry, isWindsurf),
		declined("a session of Continue", readTelemetry, func(s sketch) bool { return s.has("sessionId", "workspaceDirectory") && s.at("history").array }),
		declined("a session of OpenHands", readTelemetry, func(s sketch) bool { return isOpenHands(s) || isOpenHands(s.of()) }),
		declined("a session of Hermes", readTelemetry, func(s sketch) bool { return s.at("session").has("source", "system_prompt") && s.at("messages").array }),
		declined("a session of Letta Code", readTelemetry, func(s sketch) bool { return s.has("kind", "captured_at", "source_line_id") }),
		declined("a part of the store of OpenCode", exportOpenCode, func(s sketch) bool { return s.has("sessionID", "role", "modelID") }),
		declined("a stream of OpenCode", exportOpenCode, func(s sketch) bool { return s.has("type", "sessionID") && s.at("part").object }),
		declined("an export of Langfuse", exportOTLP, func(s sketch) bool { return s.has("trace", "observations") }),
		declined("a run of LangSmith", exportOTLP, func(s sketch) bool { return isLangSmith(s) || isLangSmith(s.of()) }),
	}
}

// supported describes the logs of an agent that are read in the given form.
func supported(what, form string, is func(sketch) bool) sign {
	return sign{Found{Transcript, what, recordIt}, is, form}
}

// declined describes logs that are not supported.
func declined(what, next string, is func(sketch) bool) sign {
	return sign{Found{Session, what, next}, is, ""}
}

func isGemini(s sketch) bool {
	return s.has("sessionId", "projectHash") && !s.has("type") || s.among("type", "gemini") && s.has("id", "timestamp") && !s.has("sessionId") ||
		s.at("$set").object || s.at("$rewindTo").text != ""
}

func isCopilot(s sketch) bool {
	return strings.Contains(s.at("type").text, ".") && s.at("data").object && s.has("id", "parentId")
}

func isPi(s sketch) bool { return s.among("type", "session") && s.has("id", "cwd") }

func isQwen(s sketch) bool {
	return s.has("sessionId", "type") && (s.at("message", "parts").array || s.has("provenance") || s.among("type", "tool_result"))
}

func isIFlow(s sketch) bool {
	return s.starts("sessionId", "session-") && s.has("type") && (s.starts("version", "1.0.") || strings.HasPrefix(s.at("message", "id").text, "response-"))
}

func isCursor(s sketch) bool {
	return s.among("role", "user", "assistant") && s.at("message", "content").array && !s.has("type") && !s.has("id")
}

func isCline(s sketch) bool {
	x := s.of()
	return x.has("ts", "type") && (x.has("say") || x.has("ask")) || x.among("role", "user", "assistant") && x.has("content") && !x.has("type") && !x.has("receipt_id")
}

func isWindsurf(s sketch) bool {
	return s.has("status", "type") && s.at(s.at("type").text).object && !s.has("id") && !s.has("sessionId") && !s.has("session_id")
}

func isOpenHands(s sketch) bool {
	return s.among("kind", "MessageEvent", "ActionEvent", "ObservationEvent") || s.has("action", "cause") || s.has("observation", "cause") || s.has("action", "source", "args")
}

func isLangSmith(s sketch) bool { return s.has("run_type", "trace_id", "dotted_order") }

// sessionLines is the number of lines at the beginning of a log that are examined. The first line
// is not sufficient, because another program may have written it.
const sessionLines = 50

// SessionOf recognizes the log of an agent by one of its lines, or by the beginning of a file that
// contains one JSON value. The second result is the name of the format if it is supported, and
// empty if the kind is Session.
func SessionOf(value []byte) (f Found, form string) {
	s, _, _ := sketchOf(string(value[:min(len(value), Head)]))
	if !s.object && !s.array || s.has("receipt_id") || s.of().has("receipt_id") {
		return Found{}, ""
	}

	x := firstOf(sessions(), s)
	return x.Found, x.form
}

// bySession recognizes an agent log by its first lines, or by the beginning of the file if it does
// not consist of lines.
func bySession(head []byte) Found {
	text := strings.TrimLeft(strings.TrimPrefix(string(head), "\ufeff"), " \t\r\n")
	if f, _ := SessionOf([]byte(text)); f.Kind != Unknown {
		return f
	}

	// Output from another program may come first, so each line is examined separately.
	for n := 0; n < sessionLines && text != ""; n++ {
		line, rest, _ := strings.Cut(text, "\n")
		if text = rest; !strings.HasPrefix(line, "{") {
			continue
		}
		if f, _ := SessionOf([]byte(line)); f.Kind != Unknown {
			return f
		}
	}

	return Found{}
}

// A sketch is the part of a JSON value that was read: members of objects and the first elements of
// arrays, down to a maximum depth. The zero sketch represents an absent value.
type sketch struct {
	object, array bool
	text          string // of a string
	string        bool
	number        float64
	is            bool // the value is present
	members       map[string]sketch
	first         []sketch // the first elements of an array, at most sketchElements
}

// Limits of a sketch: the depth, and the number of elements of each array.
const (
	sketchDepth    = 4
	sketchElements = 4
)

// sketchOf reads the first JSON value in a string, up to the first error. It also reports whether
// the end of the value was reached (ended), and whether an object follows the value (another).
func sketchOf(text string) (s sketch, ended, another bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if s, ended = sketched(d, sketchDepth); ended {
		t, err := d.Token()
		another = err == nil && t == json.Delim('{')
	}
	return s, ended, another
}

// sealed reports whether the hash of a receipt was read. The rest of the receipt makes no
// difference.
func (s sketch) sealed() bool { return s.at("chain").has("receipt_hash") }

// sketched reads a JSON value. It returns false if the end of the value was not reached.
func sketched(d *json.Decoder, depth int) (s sketch, whole bool) {
	t, err := d.Token()
	if err != nil {
		return s, false
	}
	s.is = true

	switch v := t.(type) {
	case string:
		s.text, s.string = v, true
	case json.Number:
		s.number, _ = v.Float64()
	case json.Delim:
		s.object, s.array = v == '{', v == '['
		switch {
		// Recursion is limited, because the nesting of a file may have any depth.
		case depth == 0:
			return s, skip(d)
		case s.object:
			return s.readMembers(d, depth)
		}
		return s.readElements(d, depth)
	}

	return s, true
}

// skip reads to the end of the current object or array, and reports whether the end was reached.
func skip(d *json.Decoder) bool {
	for depth := 1; depth > 0; {
		t, err := d.Token()
		if err != nil {
			return false
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return true
}

func (s sketch) readMembers(d *json.Decoder, depth int) (sketch, bool) {
	s.members = map[string]sketch{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return s, false
		}
		key := name.(string) // More ensures that the token is a name

		// A member counts as present even if its value is not read completely.
		s.members[key] = sketch{is: true}
		member, whole := sketched(d, depth-1)
		if member.is {
			s.members[key] = member
		}
		if !whole || depth == sketchDepth && s.sealed() && s.has("schema") {
			return s, false
		}
	}
	_, err := d.Token()
	return s, err == nil
}

func (s sketch) readElements(d *json.Decoder, depth int) (sketch, bool) {
	for d.More() {
		x, whole := sketched(d, depth-1)
		if len(s.first) < sketchElements && x.is {
			s.first = append(s.first, x)
		}

		// One element of the outermost array is sufficient to recognize a file.
		if !whole || depth == sketchDepth {
			return s, false
		}
	}
	_, err := d.Token()
	return s, err == nil
}

// at returns the member at a path of names.
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

// of returns the first element of an array.
func (s sketch) of() sketch {
	if len(s.first) == 0 {
		return sketch{}
	}
	return s.first[0]
}

// starts reports whether a member is a string that begins with one of the prefixes.
func (s sketch) starts(name string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s.members[name].text, p) {
			return true
		}
	}
	return false
}

// among reports whether a member is a string that equals one of the words.
func (s sketch) among(name string, words ...string) bool {
	for _, w := range words {
		if s.members[name].text == w {
			return true
		}
	}
	return false
}
