package redact_test

import (
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/redact"
)

// TestMembers verifies that secrets with revealing names are found both in objects and in strings.
// Every form of a name with a value must be treated as a member.
func TestMembers(t *testing.T) {
	p := compile(t, redact.Default())
	const random = "q7Zk2mXw9Rb4TcVn8Jd5Ph3Lg6Fs1Ya"
	for _, c := range []struct{ in, want string }{
		{`{"SecretAccessKey":"` + random + `"}`, "/metadata/SecretAccessKey"},
		{`{"db":{"user":"app","pass":"Walnut77!"}}`, "/metadata/db/pass"},
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
		{`{"pair":["X-Api-Key","` + random + `"]}`, "/metadata/pair/1"},
		{`{"m":{"kind":"Secret","apiVersion":"v1","data":{"a":"eA=="}}}`, "/metadata/m/data"},
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
