package bundle_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// required returns the paths of the 36 required members of a bundle.
func required() (ways [][]any) {
	for _, name := range strings.Fields(`_type schema_version bundle_id created_at producer source runtime transcript tools permissions replay redaction attachments`) {
		ways = append(ways, []any{name})
	}
	for in, names := range map[string]string{
		"producer": "name version schema_id", "source": "kind run_record_id workflow_id task status", "runtime": "harn_version provider_models",
		"transcript": "sections", "tools": "schemas calls", "replay": "event_log_pointers transitions checkpoints trace_spans deterministic_events",
		"redaction": "mode policy placeholder entries unsafe_secret_markers_rejected",
	} {
		for _, name := range strings.Fields(names) {
			ways = append(ways, []any{in, name})
		}
	}
	return ways
}

func pathOf(way []any) string {
	path := "$"
	for _, s := range way {
		switch s := s.(type) {
		case string:
			path = child(path, s)
		case int:
			path += fmt.Sprintf("[%d]", s)
		}
	}
	return path
}

// refused returns the error that Check reports.
func refused(t *testing.T, data []byte, m bundle.Markers) *bundle.Error {
	t.Helper()
	b, err := bundle.Parse(data)
	if err == nil {
		var info *bundle.Info
		if info, err = bundle.Check(b, m); err != nil && info != nil {
			t.Error("a value with an error")
		}
	}
	var wrong *bundle.Error
	if !errors.As(err, &wrong) {
		t.Fatalf("%v, expected a *bundle.Error", err)
	}
	return wrong
}

func TestRequired(t *testing.T) {
	local := exported(t, file(t, "run.json"), bundle.Options{Mode: bundle.Local}).Bytes()
	if n := len(required()); n != 36 {
		t.Fatalf("%d members, expected 36", n)
	}
	for _, way := range required() {
		v := tree(t, local)
		delete(at(t, any(v), way[:len(way)-1]...).(map[string]any), way[len(way)-1].(string))
		if got := refused(t, encode(t, v), bundle.RefuseMarkers); *got != (bundle.Error{Kind: bundle.MissingRequired, Path: pathOf(way)}) {
			t.Errorf("without %v: %v", way, got)
		}
		if got := refused(t, encode(t, v), bundle.AllowMarkers); got.Kind != bundle.MissingRequired {
			t.Errorf("without %v, markers allowed: %v", way, got)
		}

		// The member is present, but its value is null, which has the wrong type.
		v = tree(t, local)
		put(t, v, nil, way...)
		got := refused(t, encode(t, v), bundle.RefuseMarkers)
		if want := pathOf(way); got.Path != want || got.Kind != bundle.Malformed && got.Kind != bundle.InvalidType {
			t.Errorf("null at %v: %v", way, got)
		}
	}
}

func TestTypeAndVersion(t *testing.T) {
	for _, test := range []struct {
		name, value string
		want        bundle.Error
	}{
		{"_type", `"session_bundle"`, bundle.Error{Kind: bundle.InvalidType, Path: "$._type", Rule: "expected harn_session_bundle"}},
		{"_type", `"harn_session_bundlе"`, bundle.Error{Kind: bundle.InvalidType, Path: "$._type", Rule: "expected harn_session_bundle"}},
		{"_type", `1`, bundle.Error{Kind: bundle.InvalidType, Path: "$._type", Rule: "expected harn_session_bundle"}},
		{"schema_version", `0`, bundle.Error{Kind: bundle.UnsupportedVersion, Path: "$.schema_version", Rule: "found 0, supported is 1"}},
		{"schema_version", `2`, bundle.Error{Kind: bundle.UnsupportedVersion, Path: "$.schema_version", Rule: "found 2, supported is 1"}},
		{"schema_version", `-1`, bundle.Error{Kind: bundle.UnsupportedVersion, Path: "$.schema_version", Rule: "found -1, supported is 1"}},
		{"schema_version", `123456789012345678901234567890`, bundle.Error{Kind: bundle.UnsupportedVersion, Path: "$.schema_version", Rule: "found 12345678901234567890, supported is 1"}},
		{"schema_version", `1.0`, bundle.Error{Kind: bundle.InvalidType, Path: "$.schema_version", Rule: "expected an integer"}},
		{"schema_version", `1e0`, bundle.Error{Kind: bundle.InvalidType, Path: "$.schema_version", Rule: "expected an integer"}},
		{"schema_version", `"1"`, bundle.Error{Kind: bundle.InvalidType, Path: "$.schema_version", Rule: "expected an integer"}},
		{"schema_version", `true`, bundle.Error{Kind: bundle.InvalidType, Path: "$.schema_version", Rule: "expected an integer"}},
	} {
		local := file(t, "local.json")
		from := `"` + test.name + `": 1`
		if test.name == "_type" {
			from = `"_type": "harn_session_bundle"`
		}
		text := bytes.Replace(local, []byte(from), []byte(`"`+test.name+`": `+test.value), 1)
		if got := refused(t, text, bundle.AllowMarkers); *got != test.want {
			t.Errorf("%s %s: %v, expected %v", test.name, test.value, got, &test.want)
		}
		if _, err := bundle.Sanitize(parse(t, text), bundle.Sanitized, false); err == nil {
			t.Errorf("%s %s: it was sanitized", test.name, test.value)
		}
	}
}

// TestOrder verifies the order of the checks: required members, type, version, secrets, and types
// of members.
func TestOrder(t *testing.T) {
	v := tree(t, file(t, "local.json"))
	breaks := []func(){
		func() { v["permissions"] = 1 },
		func() { put(t, v, bundle.Shapes()[1].Text, "source", "status") },
		func() { v["schema_version"] = 2 },
		func() { v["_type"] = "x" },
		func() { delete(v["source"].(map[string]any), "task") },
		func() { delete(v, "tools") },
	}
	want := []bundle.Kind{bundle.Malformed, bundle.UnsafeSecretMarker, bundle.UnsupportedVersion, bundle.InvalidType, bundle.MissingRequired, bundle.MissingRequired}
	put(t, v, "clean", "attachments", 0, "text")
	put(t, v, "clean", "transcript", "sections", 0, "messages", 0, "content")
	put(t, v, "clean", "transcript", "sections", 0, "messages", 1, "content")
	put(t, v, "clean", "transcript", "sections", 0, "messages", 2)
	for i, do := range breaks {
		do()
		if got := refused(t, encode(t, v), bundle.RefuseMarkers); got.Kind != want[i] {
			t.Errorf("%d: %v, expected %s", i, got, want[i])
		}
	}
}

// places returns ten paths at which a test can plant a secret. At the last path, the secret is the
// name of a member.
func places() [][]any {
	return [][]any{
		{"bundle_id"},
		{"source", "run_record_id"},
		{"source", "task"},
		{"transcript", "sections", 0, "messages", 0, "content"},
		{"tools", "calls", 0, "result"},
		{"permissions", 0, "payload", "prompt"},
		{"replay", "run_record", "transcript", "messages", 1, "tool_calls", 0, "arguments", "note"},
		{"replay", "trace_spans", 0, "name"},
		{"metadata", "a b"},
		{"runtime", "metadata"},
	}
}

// planted inserts a secret at a path, and returns the bundle and the path that an error must
// contain.
func planted(t testing.TB, local []byte, secret string, way []any) (data []byte, path string) {
	v := tree(t, local)
	if way[len(way)-1] == "metadata" {
		put(t, v, map[string]any{secret: 1}, way...)
		return encode(t, v), pathOf(way)
	}
	put(t, v, "it is "+secret+" now", way...)
	return encode(t, v), pathOf(way)
}

// hides fails if text contains twelve consecutive characters of a secret.
func hides(t *testing.T, what, text, secret string) {
	t.Helper()
	for i := 0; i+12 <= len(secret); i++ {
		part := secret[i : i+12]
		if strings.Contains(text, part) || strings.Contains(text, strings.ReplaceAll(part, "\n", `\n`)) {
			t.Errorf("%s: it has a part of the secret: %.300s", what, text)
			return
		}
	}
}

func TestSecrets(t *testing.T) {
	local := exported(t, file(t, "run.json"), bundle.Options{Mode: bundle.Local}).Bytes()
	if len(bundle.Shapes()) != 16 || len(places()) != 10 {
		t.Fatal("expected 16 secrets and 10 places")
	}
	for i, s := range bundle.Shapes() {
		for j, way := range places() {
			if !testsize.Full() && (i+j)%5 > 0 {
				continue
			}
			data, path := planted(t, local, s.Text, way)
			what := fmt.Sprintf("%s at %v", s.Name, way)

			got := refused(t, data, bundle.RefuseHeuristics)
			if got.Kind != bundle.UnsafeSecretMarker || got.Path != path || !strings.HasPrefix(got.Rule, s.Name) {
				t.Errorf("%s: %v", what, got)
			}
			hides(t, what, got.Error(), s.Text)

			// A match of a heuristic causes only a warning.
			info, err := bundle.Check(parse(t, data), bundle.RefuseMarkers)
			if heuristic := i >= 14; heuristic != (err == nil) {
				t.Errorf("%s: %v", what, err)
			} else if heuristic {
				if info.Total != 1 || len(info.Warnings) != 1 || info.Warnings[0].Path != path || !strings.HasPrefix(info.Warnings[0].Rule, s.Name) {
					t.Errorf("%s: %v", what, info)
				}
				hides(t, what, fmt.Sprint(info), s.Text)
			}
			if _, err := bundle.Check(parse(t, data), bundle.AllowMarkers); err != nil {
				t.Errorf("%s, allowed: %v", what, err)
			}

			// The sanitized bundle must contain no part of the secret and must not be rejected.
			text, err := bundle.Sanitize(parse(t, data), bundle.Sanitized, false)
			if strings.Contains(path, "runtime") {
				// The format requires the object that would have to be removed.
				var wrong *bundle.Error
				if !errors.As(err, &wrong) || wrong.Kind != bundle.UnsafeSecretMarker || wrong.Path != path {
					t.Errorf("%s: %v", what, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(what, err)
			}
			clean := text.Bytes()
			hides(t, what, string(clean), s.Text)
			if _, err := bundle.Check(parse(t, clean), bundle.RefuseHeuristics); err != nil {
				t.Errorf("%s: the sanitized bundle is refused: %v", what, err)
			}
		}
	}
}

// TestInfo verifies the information that Check returns about a bundle.
func TestInfo(t *testing.T) {
	info, err := bundle.Check(parse(t, exported(t, file(t, "run.json"), bundle.Options{ID: "bundle_x", Mode: bundle.ReplayOnly}).Bytes()), bundle.RefuseHeuristics)
	if err != nil || info.BundleID != "bundle_x" || info.Mode != bundle.ReplayOnly || info.RunRecordID != "run_garden" || info.SchemaVersion != 1 || info.Total != 0 {
		t.Errorf("%+v, %v", info, err)
	}

	// All warnings are counted, but only the first ones are listed.
	v := tree(t, file(t, "local.json"))
	put(t, v, "clean", "transcript", "sections", 0, "messages")
	put(t, v, []any{}, "transcript", "sections", 0, "messages")
	many := []any{}
	for range 20 + 5 {
		many = append(many, bundle.Shapes()[14].Text)
	}
	put(t, v, many, "metadata", "many")
	info, err = bundle.Check(parse(t, encode(t, v)), bundle.RefuseMarkers)
	if err != nil || len(info.Warnings) != 20 || info.Total != 20+6 { // and the attachment
		t.Errorf("%+v, %v", info, err)
	}
}

// TestHostile verifies that input is rejected if other readers could interpret it in two ways or
// could not read it.
func TestHostile(t *testing.T) {
	local := string(file(t, "local.json"))
	secret := bundle.Shapes()[1].Text
	cut := func(old, with string) string {
		if !strings.Contains(local, old) {
			t.Fatal(old)
		}
		return strings.Replace(local, old, with, 1)
	}
	for name, text := range map[string]string{
		"empty":                          "",
		"words":                          "hello",
		"duplicate name":                 cut(`"bundle_id"`, `"`+secret+`": 1, "`+secret+`": 2, "bundle_id"`),
		"duplicate name with an escape":  cut(`"bundle_id"`, `"bundle_\u0069d": "x", "bundle_id"`),
		"lone surrogate":                 cut(`"by hand"`, `"\ud800 `+secret+`"`),
		"invalid UTF-8":                  cut(`"by hand"`, "\"\xff\""),
		"BOM":                            "\ufeff" + local,
		"two values":                     local + local,
		"a number that is no double":     cut(`"by hand"`, `1e400`),
		"depth":                          cut(`"by hand"`, strings.Repeat("[", 2000)+strings.Repeat("]", 2000)),
		"single quotes":                  cut(`"by hand"`, `'`+secret+`'`),
		"a list":                         "[]",
		"null":                           "null",
		"look-alike of a required name":  cut(`"tools"`, `"tооls"`),
		"required name in other letters": cut(`"tools"`, `"Tools"`),
	} {
		got := refused(t, []byte(text), bundle.AllowMarkers)
		hides(t, name, got.Error(), secret)
		if got.Kind != bundle.Malformed && got.Kind != bundle.MissingRequired {
			t.Errorf("%s: %v", name, got)
		}
	}

	// These inputs are valid JSON documents.
	for name, text := range map[string]string{
		"CRLF":           strings.ReplaceAll(local, "\n", "\r\n"),
		"an astral name": cut(`"by hand"`, `"x", "\ud83c\udf31": "\uD83C\uDF31", "\ufffe": "\u0000"`),
		"a long number":  cut(`"by hand"`, `[123456789012345678901234567890, 1.10, -0, 1E2]`),
	} {
		t.Run(name, func(t *testing.T) {
			out := sanitized(t, []byte(text), bundle.Sanitized, false).Bytes()
			if bytes.Contains(out, []byte("\r")) {
				t.Error("the output contains CR")
			}
			if name == "a long number" && !strings.Contains(string(out), "123456789012345678901234567890,\n      1.10,\n      -0,\n      1E2\n") {
				t.Errorf("numbers are not as they were: %s", out)
			}
			if again := sanitized(t, out, bundle.Sanitized, false).Bytes(); !bytes.Equal(again, out) {
				t.Errorf("sanitized twice it is another\n%s\n%s", out, again)
			}
		})
	}
}

// TestNamesInPaths verifies that a path contains neither a name that looks like a secret nor a
// character that could terminate a name.
func TestNamesInPaths(t *testing.T) {
	secret := bundle.Shapes()[1].Text
	v := tree(t, file(t, "local.json"))
	put(t, v, map[string]any{secret: map[string]any{"text": bundle.Shapes()[2].Text}}, "metadata", "in")
	want := bundle.Error{Kind: bundle.UnsafeSecretMarker, Path: "$.metadata.in", Rule: "github_token in the name of a member"}
	if got := refused(t, encode(t, v), bundle.RefuseMarkers); *got != want {
		t.Errorf("%v, expected %v", got, &want)
	}

	// The object is removed, and no reported path contains the secret.
	text := sanitized(t, encode(t, v), bundle.ReplayOnly, true)
	hides(t, "entries", fmt.Sprint(text.Entries), secret)
	if at(t, tree(t, text.Bytes()), "metadata", "in") != "[redacted]" {
		t.Error("the object with the name is still there")
	}
	if twice := sanitized(t, text.Bytes(), bundle.ReplayOnly, true); !bytes.Equal(twice.Bytes(), text.Bytes()) {
		t.Errorf("the second time %v", twice.Entries)
	}

	// In a list that the format defines, an empty object remains, even after a second pass.
	calls := tree(t, file(t, "local.json"))
	put(t, calls, []any{map[string]any{"tool_name": "x", secret: 1}}, "tools", "calls")
	once := sanitized(t, encode(t, calls), bundle.Sanitized, false)
	if entry := (bundle.Entry{Path: "$.tools.calls[0]", Class: "secret_pattern_or_url", Replacement: "{}"}); !slices.Contains(once.Entries, entry) || len(at(t, tree(t, once.Bytes()), "tools", "calls", 0).(map[string]any)) != 0 {
		t.Errorf("%v", once.Entries)
	}
	if twice := sanitized(t, once.Bytes(), bundle.Sanitized, false); !bytes.Equal(twice.Bytes(), once.Bytes()) {
		t.Errorf("the second time %v", twice.Entries)
	}

	// The root object of a bundle cannot be removed.
	whole := tree(t, file(t, "local.json"))
	whole[secret] = 1
	_, err := bundle.Sanitize(parse(t, encode(t, whole)), bundle.Sanitized, false)
	var wrong *bundle.Error
	if !errors.As(err, &wrong) || wrong.Kind != bundle.UnsafeSecretMarker || wrong.Path != "$" {
		t.Error(err)
	}

	// If a value also has a wrong type, no error contains the secret.
	v = tree(t, file(t, "local.json"))
	put(t, v, []any{map[string]any{"tool_name": 1, secret: 1}}, "tools", "calls")
	if got := refused(t, encode(t, v), bundle.AllowMarkers); got.Path != "$.tools.calls[0].tool_name" {
		t.Error(got)
	}
	hides(t, "error", refused(t, encode(t, v), bundle.RefuseMarkers).Error(), secret)
}
