package redact_test

import (
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/redact"
)

// TestArguments verifies that a list is searched like a command line, and that only the argument
// that contains the secret is withheld.
func TestArguments(t *testing.T) {
	p := compile(t, redact.Default())
	for _, c := range []struct{ list, want string }{
		{`["curl","-u","bob:Kw7#rT2!qZ9x","https://x.io"]`, "/metadata/argv/2: pattern curl_user"},
		{`["mysql","-u","root","-pKw7rT2qZ9xL"]`, "/metadata/argv/3: pattern mysql_password"},
		{`["sshpass","-p","Kw7#rT2!qZ9x","ssh","bob@h"]`, "/metadata/argv/2: pattern client_password"},
		{`["redis-cli","-a","$REDIS_PASSWORD","ping"]`, ""},
		{`["docker","run","-u","1000","-p","8080:80","nginx:1.25"]`, ""},
		{`["psql","-U","app","-p","5433","-d","app1"]`, ""},
		{`["go","test","-run","TestPassword2"]`, ""},
		{`["mysql","-pKw7rT2qZ9xL"]`, "/metadata/argv/1: pattern mysql_password"},
		{`["AUTH","bob","Kw7#rT2!qZ9x"]`, ""}, // no option
		{`["curl","-u",7]`, ""},
		{`["mysql","-pKw7rT2qZ9xL","--api-key","Zt5wQ8mN3vKx"]`, "/metadata/argv/1: pattern mysql_password; /metadata/argv/3: pattern password_option"},
		{`["mysql","-pKw7rT2qZ9xL",7]`, ""},
		{`["","-v"]`, ""},
		{`["mysql","-pKw7rT2qZ9xL"` + strings.Repeat(`,"-v"`, 62) + `]`, "/metadata/argv/1: pattern mysql_password"},
		{`["mysql","-pKw7rT2qZ9xL"` + strings.Repeat(`,"-v"`, 63) + `]`, ""},  // too many elements
		{`["mysql","-pKw7rT2qZ9xL","` + strings.Repeat("x", 4096) + `"]`, ""}, // too long
		{`["it's","-p","a\"b'c"]`, ""},
	} {
		r := redacted(t, p, `{"metadata":{"argv":`+c.list+`}}`)
		if got := fields(r); got != c.want {
			t.Errorf("%s: %q, expected %q", c.list, got, c.want)
		}
		again(t, p, r)
	}

	// The first element is not an argument, so only the secret in it is withheld.
	r := redacted(t, p, `{"metadata":{"argv":["mysql -pKw7rT2qZ9xL","-v"]}}`)
	if got := string(r.Draft.Root().Member("metadata").Raw()); got != `{"argv":["mysql -p<redacted:mysql_password>","-v"]}` {
		t.Error(got)
	}

	// Without the rule for members, a list is not searched like a command line.
	rules := redact.Default()
	rules.Members = false
	if got := fields(redacted(t, compile(t, rules), `{"metadata":{"argv":["mysql","-pKw7rT2qZ9xL"]}}`)); got != "" {
		t.Error(got)
	}
}
