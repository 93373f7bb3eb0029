package redact_test

import (
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/redact"
)

// TestURLs verifies the invalid inputs 196 to 201.
func TestURLs(t *testing.T) {
	const r = "%5Bredacted%5D"
	p := compile(t, redact.Rules{URLs: redact.URLsAnywhere, References: true})
	for _, c := range []struct{ in, want string }{
		// user information
		{`https://u:p@h`, `https://h`},
		{`https://u@h/p`, `https://h/p`},
		{`postgres://u:p@h:5432/db`, `postgres://h:5432/db`},
		{`redis://:p@h`, `redis://h`},
		{`mongodb+srv://u:p@h1,h2/db`, `mongodb+srv://h1,h2/db`},
		{`jdbc:postgresql://u:p@h/db?user=x&password=y`, `jdbc:postgresql://h/db?user=x&password=` + r},
		{`//u:p@h/x`, `//h/x`},
		{`see //u:p@h/x`, `see //h/x`},
		{`https:%2f%2fu:p@h`, `https:%2f%2fh`},
		{`https:\/\/u:p@h\/?token=x`, `https:\/\/h\/?token=` + r},
		{`https://u:p@q@h/`, `https://h/`},
		{`https://u:p/q@h/`, `https://h/`},
		{`https://u:"p@h/`, `https://h/`},
		{`https://u:p@[::1]:8080/`, `https://[::1]:8080/`},
		{`https://web.example/https://u:p@h/`, `https://web.example/https://h/`},
		{`s9://u:"p@h/`, `s9://h/`},
		{`a-b://u:"p@h/`, `a-b://h/`},
		{`https://h/?token=https://u:p@g`, `https://h/?token=` + r},
		// parameters
		{`https://h/?token=x;sig=y`, `https://h/?token=` + r + `;sig=` + r},
		{`https://h/?a=1&&token`, `https://h/?a=1&&token`},
		{`https://h/?to%6ben=x`, `https://h/?to%6ben=` + r},
		{`https://h/?TOKEN=x`, `https://h/?TOKEN=` + r},
		{`https://h/?token[]=x&token%5B%5D=y`, `https://h/?token[]=` + r + `&token%5B%5D=` + r},
		{`https://h/?x-amz-signature=x&X-Goog-Signature=y`, `https://h/?x-amz-signature=` + r + `&X-Goog-Signature=` + r},
		{`https://h/?sv=2020&se=1&sig=a%2Fb%3D`, `https://h/?sv=2020&se=1&sig=` + r},
		{`https://h/?token=a&token=b&q=c`, `https://h/?token=` + r + `&token=` + r + `&q=c`},
		{`https://h/?token=a/b?c=d`, `https://h/?token=` + r},
		{`https://h/?next=https://g/?token=x&a=1`, `https://h/?next=https://g/?token=` + r + `&a=1`},
		{`https://h/?next=https%3A%2F%2Fg%2F%3Ftoken%3Dx&a=1`, `https://h/?next=https%3A%2F%2Fg%2F%3Ftoken%3D` + r + `&a=1`},
		{`https://h/?a=1&amp;token=x`, `https://h/?a=1&amp;token=` + r},
		{`https://h/?token=${TOKEN}`, `https://h/?token=${TOKEN}`},
		// fragments and paths
		{`https://h/#access_token=x&state=y`, `https://h/#access_token=` + r + `&state=y`},
		{`https://h/#/cb?code=x`, `https://h/#/cb?code=` + r},
		{`https://h/?code=404`, `https://h/?code=404`},
		{`https://h/p;token=x/q`, `https://h/p;token=` + r + `/q`},
		{`https://h/reset/abcdef`, `https://h/reset/abcdef`}, // documented: paths stay
		// malformed
		{`https://h/%zz?token=1`, `https://h/%zz?token=` + r},
		{`https://h\@evil/?token=1`, `https://evil/?token=` + r},
		{`http://[::1?token=1`, `http://[::1?token=` + r},
		{`https://h?AUTHORIZATION=1`, `https://h?AUTHORIZATION=` + r},
		{`://u:p@h`, `://h`},
		{`//`, `//`},
		{`https://`, `https://`},
		{`https://@h`, `https://@h`},
		// clean
		{`https://EXAMPLE.com`, `https://EXAMPLE.com`},
		{`https://h?a=1&b`, `https://h?a=1&b`},
		{`https://h:8080/a;b/c?d=e%20f#section-2`, `https://h:8080/a;b/c?d=e%20f#section-2`},
		{`https://h/?email=a@b`, `https://h/?email=a@b`},
		{`https://h/a&token=x`, `https://h/a&token=x`},
		{`https://h:${PORT}/a@b`, `https://h:${PORT}/a@b`},
		{`https://h:${PORT}0/a@b`, `https://h:${PORT}0/a@b`},
		{`https://h:8080/a@b`, `https://h:8080/a@b`},
		{`https://h:9/a@b`, `https://h:9/a@b`},
		{`https://h:80:0/a@b`, `https://h:80:0/a@b`},
		{`https://u:8/x:9@b`, `https://u:8/x:9@b`}, // documented: a value that parses as a port is treated as a port
		{`https://u:8x/y@b`, `https://b`},
		{`https://u:8!/y@b`, `https://b`},
		{`http://[fe80::1]/a@b`, `http://[fe80::1]/a@b`},
		{`git@github.com:x/y.git`, `git@github.com:x/y.git`},
		{`oci://h/app@sha256:00`, `oci://h/app@sha256:00`},
		{`mailto:a@b`, `mailto:a@b`},
		{`data:text/plain,token`, `data:text/plain,token`},
		{`// TODO a@b`, `// TODO a@b`},
		{`a//b:c@d`, `a//b:c@d`},
		{`max_tokens=200`, `max_tokens=200`},
		// prose
		{`(see https://u:p@h/?token=x).`, `(see https://h/?token=` + r + `).`},
		{`"https://h/?token=x","https://u:p@g"`, `"https://h/?token=` + r + `","https://g"`},
		{`'https://h/?sig=x', 'y'`, `'https://h/?sig=` + r + `', 'y'`},
		{`<a href="https://h/?sig=x">`, `<a href="https://h/?sig=` + r + `">`},
		{`{\"url\":\"https://h/?sig=x\"}`, `{\"url\":\"https://h/?sig=` + r + `\"}`},
		{`{https://h/?sig=x}`, `{https://h/?sig=` + r + `}`},
		{`a https://h/?sig=x b`, `a https://h/?sig=` + r + ` b`},
		{`GET https://h/x, 2 bytes.`, `GET https://h/x, 2 bytes.`},
	} {
		checkText(t, p, c.in, c.want, "url")
	}
}

// checkText redacts a draft with the given text in its metadata, and checks the result.
func checkText(t *testing.T, p *redact.Policy, in, want, rule string) {
	t.Helper()
	doc := `{"metadata":{"t":` + quote(in) + `}}`
	r := redacted(t, p, doc)
	got := parse(t, string(r.Draft.Source())).Root().Member("metadata").Member("t").String()
	if got != want {
		t.Errorf("%.200q: %.200q\nwant %.200q", in, got, want)
		return
	}
	wantFields := "/metadata/t: " + rule
	if in == want {
		wantFields = ""
	}
	if f := fields(r); f != wantFields {
		t.Errorf("%.200q: entries %q, want %q", in, f, wantFields)
	}
	again(t, p, r)
}

func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < ' ':
			b.WriteString(`\u00`)
			b.WriteByte("0123456789abcdef"[c>>4])
			b.WriteByte("0123456789abcdef"[c&15])
		default:
			b.WriteRune(c)
		}
	}
	return b.String() + `"`
}

// TestWholeURLs verifies that the upstream rule applies only if the entire string is an http or
// https URL.
func TestWholeURLs(t *testing.T) {
	const r = "%5Bredacted%5D"
	p := compile(t, redact.Rules{URLs: redact.URLsWhole})
	for in, want := range map[string]string{
		`https://u:p@h/?token=x&a=b`:     `https://h/?token=` + r + `&a=b`,
		`HTTP://u@h`:                     `HTTP://h`,
		`https://h/?a=b;token=x#token=y`: `https://h/?a=b;token=` + r + `#token=y`,
		`https://h/;token=x`:             `https://h/;token=x`,
		`https://h/?x-amz-signature=x`:   `https://h/?x-amz-signature=x`,
		`https://h/?token=${T}`:          `https://h/?token=` + r,
		`see https://u:p@h`:              `see https://u:p@h`,
		`postgres://u:p@h`:               `postgres://u:p@h`,
		`https://h/?to%6ben=x`:           `https://h/?to%6ben=` + r,
		`https://u:p@h and more`:         `https://u:p@h and more`,
		`https://u:p/q@h`:                `https://u:p/q@h`,
		`https://EXAMPLE.com`:            `https://EXAMPLE.com`,
		`https://`:                       `https://`,
	} {
		checkText(t, p, in, want, "url")
	}
}

// TestURLTime verifies that the processing time is linear in the length of the string, for any
// string.
func TestURLTime(t *testing.T) {
	p := compile(t, redact.Rules{URLs: redact.URLsAnywhere})
	size := 1 << 16
	if testing.Short() {
		size = 1 << 14
	} else if testsize.Full() {
		size = 1 << 18
	}
	for _, unit := range []string{"://", "//", "?a=", ";a=", "&token=", "a://b@", "://x:y", "%3A//", `\/\/`, "https://h/?a=b ", "#?;&", "a:"} {
		if !testsize.Linear(size, func(size int) func() {
			text := "https://h/" + strings.Repeat(unit, size/len(unit))
			doc := parse(t, `["`+strings.ReplaceAll(text, `\`, `\\`)+`"]`)
			return func() { p.Find(doc) }
		}) {
			t.Errorf("%q takes more than linear time", unit)
		}
	}
}
