package bundle_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/receiptkit/receiptkit/receipt/bundle"
)

// FuzzBundle verifies that no input causes a panic. A sanitized bundle must be valid JSON, pass
// Check, and not change when it is sanitized again.
func FuzzBundle(f *testing.F) {
	f.Add(file(f, "local.json"))
	f.Add(exported(f, file(f, "run.json"), bundle.Options{Mode: bundle.Local}).Bytes())
	f.Add(exported(f, file(f, "run.json"), bundle.Options{Mode: bundle.ReplayOnly}).Bytes())
	for _, s := range bundle.Shapes() {
		data, _ := planted(f, exported(f, file(f, "run.json"), bundle.Options{Mode: bundle.Local}).Bytes(), s.Text, places()[3])
		f.Add(data)
	}
	f.Add(bytes.ReplaceAll(file(f, "local.json"), []byte(`"by hand"`), []byte(`"see /home/ada and file:///a/b, \\\\a\\b, C:\\x; https://a:b@c/d%2Fe"`)))
	f.Add([]byte(`{"_type": "harn_session_bundle"}`))

	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := bundle.Parse(data)
		if err != nil {
			return
		}
		if _, err := bundle.Check(b, bundle.AllowMarkers); err != nil {
			if text, err := bundle.Sanitize(b, bundle.Sanitized, false); err == nil {
				t.Fatalf("an input that is not a bundle was sanitized: %s", text.Bytes())
			}
			return
		}
		for _, manner := range []struct {
			mode   bundle.Mode
			strict bool
		}{{bundle.Sanitized, false}, {bundle.ReplayOnly, false}, {bundle.ReplayOnly, true}} {
			mode, strict := manner.mode, manner.strict
			text, err := bundle.Sanitize(b, mode, strict)
			if err != nil {
				continue // an object with a secret in a name cannot be removed, or the bundle's mode removes more
			}
			clean := text.Bytes()
			if !json.Valid(clean) || int64(len(clean)) != text.Size {
				t.Fatalf("%d bytes, said are %d: %s", len(clean), text.Size, clean)
			}
			if _, err := bundle.Check(parse(t, clean), bundle.RefuseHeuristics); err != nil {
				t.Fatalf("%v: %s", err, clean)
			}
			if again := sanitized(t, clean, mode, strict).Bytes(); !bytes.Equal(again, clean) {
				t.Fatalf("sanitized twice:\n%s\n%s", clean, again)
			}
			if record, err := bundle.Import(parse(t, clean), bundle.RefuseHeuristics); err == nil && !json.Valid(record.Bytes()) {
				t.Fatalf("imported: %s", record.Bytes())
			}
		}
	})
}
