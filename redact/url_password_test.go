package redact_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/redact"
)

// TestURLPasswords verifies that no password in a URL is kept, regardless of the URL's scheme, the
// surrounding text, and the encoding. The same rule applies to bundles and to receipts.
func TestURLPasswords(t *testing.T) {
	marker, err := redact.NewMarker()
	if err != nil {
		t.Fatal(err)
	}
	policy := compile(t, redact.Default())

	const needle = "9w8v7u"
	schemes := []string{"https", "http", "HTTPS", "ftp", "ftps", "sftp", "ssh", "ws", "git+https", "postgres", "redis", "amqp", "mongodb+srv", "jdbc:postgresql"}
	passwords := []string{needle, "p%40" + needle, needle + "@", needle + "/x", needle + "?x", needle + "#x", needle + ":x", "$" + needle + "!"}
	around := []struct{ before, after string }{
		{"", ""}, {"", "\n"}, {"", " "}, {"", "\r\n"}, {"", "\t"}, {"\n", "\n"}, {" ", " and more"}, {"see ", "."}, {"(", ")"}, {"<", ">"},
		{"`", "`"}, {`"`, `"`}, {"'", "'"}, {`{"url":"`, `"}`}, {`{\"url\":\"`, `\"}`}, {"url=", "&a=b"}, {"remote: ", "\u00a0x"}, {"a,", ",b"}, {"[x](", ")"},
		{"https://example.org/?next=", ""}, {"https://example.org/?next=", "&a=b"}, {"https://example.org/?next=", " there"},
		{"see https://example.org/#a=", "\n"}, {"https://example.org/", "/x"}, {"ftp://example.org/\n", ""}, {"https://a:b@example.org/ ", ""},
	}

	for _, scheme := range schemes {
		for _, password := range passwords {
			plain := scheme + "://ada:" + password + "@example.org/garden?bed=1"
			for _, written := range []string{
				plain, url.QueryEscape(plain), strings.ReplaceAll(plain, "/", `\/`), strings.ReplaceAll(plain, "@", `\u0040`), strings.Replace(plain, "://", ":%2f%2F", 1),
			} {
				for _, a := range around {
					text := a.before + written + a.after
					marked, found := marker.Mark([]byte(text))
					if !found || strings.Contains(string(marked.Text), needle) {
						t.Errorf("%q: %q remains", text, marked.Text)
					} else if again, found := marker.Mark(marked.Text); found {
						t.Errorf("%q: %q, and then %q", text, marked.Text, again.Text)
					}
					if r := redacted(t, policy, `{"metadata":{"t":`+quote(text)+`}}`); strings.Contains(string(r.Draft.Source()), needle) {
						t.Errorf("%q: in a draft, %s remains", text, r.Draft.Source())
					}
					if t.Failed() {
						return
					}
				}
			}
		}
	}
}
