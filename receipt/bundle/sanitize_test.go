package bundle_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// TestTwice verifies that sanitizing a bundle again changes nothing, regardless of what was removed
// earlier.
func TestTwice(t *testing.T) {
	type manner struct {
		mode   bundle.Mode
		strict bool
	}
	manners := []manner{{bundle.Sanitized, false}, {bundle.ReplayOnly, false}, {bundle.ReplayOnly, true}}
	for _, data := range [][]byte{
		file(t, "local.json"),
		exported(t, file(t, "run.json"), bundle.Options{Mode: bundle.Local, Attachments: true}).Bytes(),
	} {
		for i, m := range manners {
			once := sanitized(t, data, m.mode, m.strict).Bytes()
			if twice := sanitized(t, once, m.mode, m.strict).Bytes(); !bytes.Equal(once, twice) {
				t.Errorf("%v: another the second time\n%s\n%s", m, once, twice)
			}

			// Sanitizing with a weaker mode first must not change what is removed, and all removals
			// must remain listed.
			for _, weaker := range manners[:i] {
				first := sanitized(t, data, weaker.mode, weaker.strict).Bytes()
				text := sanitized(t, first, m.mode, m.strict)
				same(t, fmt.Sprintf("%v, then %v", weaker, m), text.Entries, sanitized(t, data, m.mode, m.strict).Entries)
				if !bytes.Equal(text.Bytes(), once) {
					t.Errorf("%v, then %v: another bundle", weaker, m)
				}
			}
		}
	}
}

// TestExportIsSanitize verifies that exporting a run in a mode has the same result as sanitizing
// the run's local bundle in that mode. Only the ID differs, because it is derived from the exported
// record.
func TestExportIsSanitize(t *testing.T) {
	run := file(t, "run.json")
	o := bundle.Options{Mode: bundle.Local, ID: "bundle_x"}
	local := exported(t, run, o).Bytes()
	for _, mode := range []bundle.Mode{bundle.Sanitized, bundle.ReplayOnly} {
		o.Mode = mode
		if direct := exported(t, run, o).Bytes(); !bytes.Equal(direct, sanitized(t, local, mode, false).Bytes()) {
			t.Errorf("%s: exported and sanitized differ", mode)
		}
	}
}

func TestWeakerMode(t *testing.T) {
	withheld := exported(t, file(t, "run.json"), bundle.Options{Mode: bundle.ReplayOnly, Strict: true}).Bytes()
	_, err := bundle.Sanitize(parse(t, withheld), bundle.Sanitized, false)
	var wrong *bundle.Error
	if !errors.As(err, &wrong) || *wrong != (bundle.Error{Kind: bundle.WeakerMode, Path: "$.redaction.mode", Rule: "it is replay_only, and cannot become sanitized"}) {
		t.Error(err)
	}

	// A strict bundle stays strict.
	if again := sanitized(t, withheld, bundle.ReplayOnly, false).Bytes(); !bytes.Equal(again, withheld) {
		t.Error("a strict bundle is no longer strict")
	}

	var option *bundle.OptionError
	for _, mode := range []bundle.Mode{bundle.Local, "x"} {
		if _, err := bundle.Sanitize(parse(t, withheld), mode, false); !errors.As(err, &option) || option.Name != "Mode" {
			t.Error(mode, err)
		}
	}
	if _, err := bundle.Sanitize(parse(t, withheld), bundle.Sanitized, true); !errors.As(err, &option) || option.Name != "Strict" {
		t.Error(err)
	}
}

// TestForeignManifest verifies that a list of removals from another program is reduced to the
// entries that match the bundle.
func TestForeignManifest(t *testing.T) {
	v := tree(t, sanitized(t, file(t, "local.json"), bundle.Sanitized, false).Bytes())
	honest := at(t, v, "redaction", "entries").([]any)
	entry := func(path, class, replacement string) map[string]any {
		return map[string]any{"path": path, "class": class, "action": "replaced", "replacement": replacement}
	}
	secret := bundle.Shapes()[1].Text
	put(t, v, append(honest,
		entry("$.bundle_id", "secret_pattern_or_url", "another text"),      // differs from the present value
		entry("$.nowhere", "secret_pattern_or_url", ""),                    // does not exist
		entry("$.source.task", "sensitive_field", "[redacted]"),            // it was not
		entry("$."+secret, "sensitive_field", "[redacted]"),                // a secret
		entry(`$["a`, "secret_pattern_or_url", secret),                     // not a path
		entry("$.bundle_id", "other", "bundle_by_hand"),                    // not a class
		entry("$.source.task", "prompt_or_tool_payload", "[withheld]"),     // it was not
		entry("$.source.status", "secret_pattern_or_url", "completed"),     // the present value contains no placeholder
		map[string]any{"path": 1, "class": nil}, map[string]any{"x": "y"}), // not entries
		"redaction", "entries")
	put(t, v, secret, "redaction", "note")
	text := sanitized(t, encode(t, v), bundle.Sanitized, false)
	same(t, "sanitized", text.Entries, byPath(ofLocal()))
	hides(t, "bundle", string(text.Bytes()), secret)

	// A local bundle has no earlier removals, regardless of what it lists.
	v = tree(t, file(t, "local.json"))
	put(t, v, "<redacted:jwt:90>", "source", "status")
	put(t, v, []any{entry("$.source.status", "secret_pattern_or_url", "<redacted:jwt:90>")}, "redaction", "entries")
	same(t, "of a local one", sanitized(t, encode(t, v), bundle.Sanitized, false).Entries, byPath(ofLocal()))
}
