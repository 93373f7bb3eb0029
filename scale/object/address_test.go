package object

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		address, name, prefix, bucket string
		one                           bool
		named, other                  string
	}{
		{"s3://lake/day/a.jsonl", "s3://lake/day/a.jsonl", "day/a.jsonl", "s3://lake", true, "", ""},
		{"s3://lake/day/?region=eu-central-1", "s3://lake/day/", "day/", "s3://lake?region=eu-central-1", false, "day/x/y.jsonl", "night/y.jsonl"},
		{"gs://lake", "gs://lake/", "", "gs://lake", false, "a.json", ""},
		{"gs://lake/", "gs://lake/", "", "gs://lake", false, "a/b.json", ""},
		{"azblob://lake/day-*/a.jsonl.zst", "azblob://lake/day-*/a.jsonl.zst", "day-", "azblob://lake", false, "day-7/a.jsonl.zst", "day-7/x/a.jsonl.zst"},
		{"s3://lake/a%20b/c.json", "s3://lake/a%20b/c.json", "a%20b/c.json", "s3://lake", true, "", ""}, // keys are used as written, without decoding
		{"file:///srv/receipts/", "/srv/receipts/", "", "file:///srv/receipts/", false, "x.json", ""},
		{"file:///srv/receipts/a.json", "/srv/receipts/a.json", "a.json", "file:///srv/receipts/", true, "", ""},
		{"file:///srv/*/a.json", "/srv/*/a.json", "", "file:///srv/", false, "x/a.json", "a.json"},
	} {
		a, err := Parse(test.address)
		if err != nil {
			t.Errorf("%s: %v", test.address, err)
			continue
		}
		if a.String() != test.name || a.prefix() != test.prefix || a.Store() != test.bucket || a.One() != test.one {
			t.Errorf("%s: %s, prefix %q, bucket %s, one %t", test.address, a, a.prefix(), a.Store(), a.One())
		}
		if test.named != "" && !a.names(test.named) || test.other != "" && a.names(test.other) {
			t.Errorf("%s names %q or does not name %q", test.address, test.other, test.named)
		}
	}
}

// FuzzParse verifies that the listed prefix matches every key to which an address refers, and that
// reports never contain the storage parameters.
func FuzzParse(f *testing.F) {
	f.Add("s3://lake/day-*.jsonl?region=secret", "day-7.jsonl")
	f.Add("file:///srv/[ab]/x.json", "a/x.json")
	f.Fuzz(func(t *testing.T, address, key string) {
		a, err := Parse(address)
		if err != nil {
			return
		}
		if a.names(key) && !strings.HasPrefix(key, a.prefix()) {
			t.Errorf("%q names %q, which does not begin with %q", address, key, a.prefix())
		}
		if strings.Contains(a.String(), "?") {
			t.Errorf("%q is reported as %q", address, a)
		}
	})
}
