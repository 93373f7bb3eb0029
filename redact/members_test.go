package redact_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// TestMembers verifies that secrets with revealing names are found both in objects and in strings.
// Every form of a name with a value must be treated as a member.
func TestMembers(t *testing.T) {
	p := compile(t, redact.Default())
	const random = "q7Zk2mXw9Rb4TcVn8Jd5Ph3Lg6Fs1Ya"
	for _, c := range []struct{ in, want string }{
		{`{"SecretAccessKey":"` + random + `"}`, "/metadata/SecretAccessKey"},
		{`{"db":{"user":"app","pass":"Walnut77!"}}`, "/metadata/db/pass"},
		{`{"db":[{"pass":"Walnut<77!"},{"pass":"Walnut[77!"},{"pass":"Walnut%77!"}]}`, "/metadata/db/0/pass /metadata/db/1/pass /metadata/db/2/pass"},
		{`{"smtpPw":"Lantern 4 Harbor"}`, "/metadata/smtpPw"},
		{`{"encryption_key":"` + random + `"}`, "/metadata/encryption_key"},
		{`{"env":[{"name":"DB_PASSWORD","value":"x"},{"name":"TZ","value":"Europe/Berlin"}]}`, "/metadata/env/0/value"},
		{`{"env":[{"value":"Walnut77!","name":"ADMIN_PW"}]}`, "/metadata/env/0/value"},
		{`{"env":[{"Key":"RootPass","Value":"Walnut77!"}]}`, "/metadata/env/0/Value"},
		{`{"parameters":[{"ParameterKey":"DbPwd","ParameterValue":"Walnut77!"}]}`, "/metadata/parameters/0/ParameterValue"},
		{`{"headers":[{"name":"X-Hub-Signature","value":"x"},{"name":"Accept","value":"*/*"}]}`, "/metadata/headers/0/value"},
		{`{"headers":[["Cookie","a=b"],["Accept","*/*"]]}`, "/metadata/headers/0/1"},
		{`{"rawHeaders":["Host","h","Authorization","Custom x","Accept","*/*"]}`, "/metadata/rawHeaders/3"},
		{`{"request":{"cookies":[{"name":"sid","value":"` + random + `"},{"name":"lang","value":"de"}]}}`, "/metadata/request/cookies/0/value"},
		{`{"env":[{"name":"DB_PASSWORD","value":"Walnut77!","default":null}]}`, "/metadata/env/0/value"},
		{`{"env":[{"name":"DB_PASSWORD","value":"Walnut77!","default":""}]}`, "/metadata/env/0/value"},
		{`{"env":[{"default":"Walnut78!","name":"DB_PASSWORD","value":"Walnut77!"}]}`, "/metadata/env/0/default /metadata/env/0/value"},
		{`{"env":[{"name":"primary-db","key":"DB_PASSWORD","value":"x"},{"key":"DB_PASSWORD","name":"primary-db","value":"x"}]}`, "/metadata/env/0/value /metadata/env/1/value"},
		{`{"form":[{"selector":"#f3","element":"Password field","text":"Walnut77!"}]}`, "/metadata/form/0/text"},
		{`{"form":[{"id":"f3","label":"Password","value":"Walnut77!"}]}`, "/metadata/form/0/value"},
		{`{"form":[{"label":"Password","type":"text","value":"Walnut77!"}]}`, "/metadata/form/0/value"},
		{`{"form":[{"name":null,"label":"Password","value":"Walnut77!"}]}`, "/metadata/form/0/value"},
		{`{"form":[{"label":"API token","value":"` + random + `"}]}`, "/metadata/form/0/value"},
		{`{"form":[{"label":"Password","value":"required"}]}`, ""},
		{`{"secrets":[{"name":"smtp","value":"` + random + `"}]}`, "/metadata/secrets/0/value"},
		{`{"notes":{"smtp":"` + random + `"}}`, ""},
		{`{"secrets":{"smtp":"` + random + `"}}`, "/metadata/secrets/smtp"},
		{`{"passwords":["Walnut77!"]}`, "/metadata/passwords/0"},
		{`{"pair":["X-Api-Key","` + random + `"]}`, "/metadata/pair/1"},
		{`{"pair":["Cookie","a=b"]}`, "/metadata/pair/1"},
		{`{"pair":["Authorization","Custom x"]}`, "/metadata/pair/1"},
		{`{"pair":["Accept","Custom x"]}`, ""},
		{`{"m":{"name":"DB_PASSWORD","value":"x"` + members(14) + `}}`, "/metadata/m/value"},
		{`{"m":{"name":"DB_PASSWORD","value":"x"` + members(15) + `}}`, ""}, // too many members for a pair
		{`{"m":{"kind":"Secret","apiVersion":"v1","data":{"a":"eA=="}}}`, "/metadata/m/data"},
		{`{"m":{"kind":"Secret","metadata":{"labels":{"a":"b"}},"stringData":{"a":"x"}}}`, "/metadata/m/stringData"},
		{`{"m":{"kind":"Secret","data":{}}}`, ""},
		{`{"m":{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"eA=="}}}`, ""},
		{`{"pass":"12 of 12","PWD":"/srv/app","token_count":"1234","keyId":"2026-04","compass":"north-2"}`, ""},
		{`{"env":[{"name":"PWD","value":"/srv/app1"},{"name":"PASSWORD_FILE","value":"/run/secrets/db1"},{"name":"DB_PASSWORD","value":"${DB_PASSWORD}"}]}`, ""},
		{`{"roles":["password","reader"],"cookies":[{"name":"theme","value":"dark"}],"keys":["primary_key","user_id"]}`, ""},
		{`{"env":[{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"db","key":"password"}}}]}`, ""},
		{`{"SecretAccessKey":"sha256:` + strings.Repeat("0a", 32) + `"}`, ""},
	} {
		r := redacted(t, p, `{"metadata":`+c.in+`}`)
		var got []string
		for _, e := range r.Entries {
			got = append(got, e.Field)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s", c.in, fields(r))
		}
		again(t, p, r)
		if c.want == "" {
			continue
		}
		rules := redact.Default()
		rules.Members = false
		if strings.Contains(c.in, `"SecretAccessKey"`) && len(redacted(t, compile(t, rules), `{"metadata":`+c.in+`}`).Entries) != 0 {
			t.Errorf("%s is found without reading members", c.in)
		}
	}
}

// members returns the text of the given number of members that have no meaning.
func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"m%d":%d`, i, i)
	}
	return b.String()
}

// TestAssigned verifies which values are searched together with their names, and that quotation
// marks in a value do not hide it.
func TestAssigned(t *testing.T) {
	p := compile(t, redact.Rules{Members: true, Detectors: []secret.Detector{
		kDigits(),
		{Name: "pin", Group: secret.FirstGroup, Pattern: `pin=(?:"([^\n"]{3,})"|'([^\n']{3,})')`},
	}})
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		name, value string
		withheld    bool
	}{
		{"pin", "wxyz", true},
		{"pin", "xyz", false}, // too short
		{"pin", long(4096), true},
		{"pin", long(4097), false}, // a document
		{long(253) + "pin", "wxyz", true},
		{long(254) + "pin", "wxyz", false}, // too long for a name
		{"pin", `wx"yz`, true},
		{"pin", `"wxyz`, true},
		{"pin", "wx'yz", true},
		{"pan", "wxyz", false},
	} {
		in, want := `{"metadata":{`+quote(c.name)+`:`+quote(c.value)+`}}`, ""
		if c.withheld {
			want = "/metadata/" + c.name + ": pattern pin"
		}
		r := redacted(t, p, in)
		if got := fields(r); got != want {
			t.Errorf("%.300s: %s", in, got)
		}
		again(t, p, r)
	}

	// The data of a Kubernetes Secret is only withheld by its detector.
	if got := fields(redacted(t, p, `{"metadata":{"kind":"Secret","data":{"a":"x"}}}`)); got != "" {
		t.Error(got)
	}

	// A match that is not the whole value does not depend on the name.
	r := redacted(t, p, `{"metadata":{"pin":"wxyz\"'k-1"}}`)
	if got := r.Draft.Root().Member("metadata").Member("pin").String(); got != `wxyz"'<redacted:k>` {
		t.Error(got)
	}
	again(t, p, r)

	// What remains of a document after redaction is not searched together with its name, because it
	// contains a placeholder.
	r = redacted(t, p, `{"metadata":{"pin":"see k-`+strings.Repeat("1", 5000)+`"}}`)
	if got := string(r.Draft.Root().Member("metadata").Raw()); got != `{"pin":"see <redacted:k>"}` {
		t.Error(got)
	}
	again(t, p, r)
}
