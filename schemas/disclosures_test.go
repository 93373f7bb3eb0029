package schemas_test

import (
	"strings"
	"testing"
)

const salt = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

const disclosures = `{"disclosures_version": 1, "receipt_hash": "` + digest + `",
	"fields": [{"field": "/metadata/a~1b", "salt": "` + salt + `", "value": "1234"}]}`

// TestDisclosures verifies the result for a disclosures file, and for many changes to it, one at a
// time.
func TestDisclosures(t *testing.T) {
	s := must(t, "disclosures")
	for _, c := range []struct {
		old, new string
		want     string // pointers of the problems; none if the document is accepted
	}{
		{``, ``, ``},
		{`"` + digest + `"`, `null`, ``},
		{`"1234"`, `null`, ``},
		{`"1234"`, `{"any": ["thing", 1]}`, ``},
		{`"fields": [`, `"fields": [], "more": [`, `/more: unknown member "more"`},
		{`"disclosures_version": 1`, `"disclosures_version": 2`, `/disclosures_version: expected 1, found a number`},
		{`"receipt_hash": "` + digest + `",`, ``, `: missing member "receipt_hash"`},
		{`"value": "1234"`, `"values": "1234"`, `/fields/0: missing member "value"; /fields/0/values: unknown member "values"`},
		{`/metadata/a~1b`, ``, `/fields/0/field: expected a string that matches ^(/[^~/]*(~[01][^~/]*)*)+$, found a string of 0 characters`},
		{`/metadata/a~1b`, `$.metadata`, `/fields/0/field: expected a string that matches ^(/[^~/]*(~[01][^~/]*)*)+$, found a string of 10 characters`},
		{`a~1b`, `a~b`, `/fields/0/field: expected a string that matches ^(/[^~/]*(~[01][^~/]*)*)+$, found a string of 13 characters`},
		{salt, salt[:30], `/fields/0/salt: expected a string that matches ^[0-9a-f]{32}$, found a string of 30 characters`},
		{salt, strings.ToUpper(salt), `/fields/0/salt: expected a string that matches ^[0-9a-f]{32}$, found a string of 32 characters`},
	} {
		src := strings.Replace(disclosures, c.old, c.new, 1)
		if c.old != "" && src == disclosures {
			t.Errorf("nothing to change at %s", c.old)
		}
		var got []string
		for _, p := range check(t, s, src).Problems {
			got = append(got, p.Pointer+": "+p.Detail)
		}
		if joined := strings.Join(got, "; "); joined != c.want {
			t.Errorf("with %s:\n%s\nwant\n%s", c.new, joined, c.want)
		}
	}
}
