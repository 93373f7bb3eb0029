package rulefile_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/redact"
	"github.com/receiptkit/receiptkit/redact/rulefile"
	"github.com/receiptkit/receiptkit/redact/secret"
)

// documented returns the policy shown in the package documentation.
func documented(t testing.TB) []byte {
	source, err := os.ReadFile("rulefile.go")
	if err != nil {
		t.Fatal(err)
	}
	var policy []string
	for line := range strings.Lines(string(source)) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok {
			policy = append(policy, text)
		}
	}
	return []byte(strings.Join(policy, ""))
}

func TestParse(t *testing.T) {
	r, err := rulefile.Parse(documented(t))
	if err != nil {
		t.Fatal(err)
	}
	base := redact.Default()
	if r.Name != "company" || !r.Headers || !r.References || r.URLs != redact.URLsAnywhere {
		t.Errorf("got %q %v %v %v", r.Name, r.Headers, r.References, r.URLs)
	}
	if want := append(base.Pointers, "/metadata/**/pin"); !slices.Equal(r.Pointers, want) {
		t.Errorf("pointers %q", r.Pointers)
	}
	if want := append(base.Names, "customer_iban", "*_pin"); !slices.Equal(r.Names, want) {
		t.Errorf("names %q", r.Names)
	}
	if len(r.Detectors) != len(base.Detectors) {
		t.Errorf("%d detectors", len(r.Detectors))
	}
	last := r.Detectors[len(r.Detectors)-1]
	if last.Name != "badge" || last.Group != 1 || last.Entropy != 2.5 || !slices.Equal(last.Keywords, []string{"badge-"}) ||
		!slices.Equal(last.Allow, []string{"^BADGE-000"}) || !slices.Equal(last.StopWords, []string{"example"}) {
		t.Errorf("got %+v", last)
	}
	if slices.ContainsFunc(r.Detectors, func(d secret.Detector) bool { return d.Name == "twilio_key" }) {
		t.Error("twilio_key is still there")
	}
}

func TestParseReplaces(t *testing.T) {
	r, err := rulefile.Parse([]byte("extends: upstream\nurls: none\nheaders: false\ndetectors:\n- {name: jwt, pattern: 'x(y)?(z)', group: first}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "upstream" || r.URLs != redact.URLsKept || len(r.Detectors) != 16 || r.Detectors[0].Pattern != "x(y)?(z)" || r.Detectors[0].Group != secret.FirstGroup {
		t.Errorf("got %+v", r.Detectors[0])
	}
}

func TestParseRefuses(t *testing.T) {
	const one = "detectors:\n  - name: a\n    pattern: "
	for _, test := range []struct{ in, want string }{
		{"", "rule file: it is empty"},
		{"# nothing\n", "rule file: it is empty"},
		{"- a", "rule file: line 1: expected a mapping, without an anchor or an alias"},
		{"a", "rule file: line 1: expected a mapping, without an anchor or an alias"},
		{"name: [", "rule file: line 1: invalid YAML: did not find expected node content"},
		{"name: a\n---\nname: b\n", "rule file: line 2: expected one document"},
		{"extends: default\nnmaes: [a]\n", `rule file: line 2: unknown member "nmaes"`},
		{"name: a\nname: b\n", `rule file: line 2: duplicate member "name"`},
		{"extends: everything\n", `rule file: line 1: expected default, upstream or strict, not "everything"`},
		{"extends: default\nurls: all\n", `rule file: line 2: expected none, whole or anywhere, not "all"`},
		{"names: secret\n", "rule file: line 1: expected a list, without an anchor or an alias"},
		{"names:\n  - true\n", "rule file: line 2: expected a string, in quotes if it looks like another type"},
		{"names: &x [a]\npointers: *x\n", "rule file: line 1: expected a list, without an anchor or an alias"},
		{"name: &x a\n", "rule file: line 1: expected a string, in quotes if it looks like another type"},
		{"<<: {name: a}\n", "rule file: line 1: expected a string, in quotes if it looks like another type"},
		{"headers: 1\n", "rule file: line 1: expected true or false"},
		{"headers: yes\n", "rule file: line 1: expected true or false"},
		{one + "'('\n", `rule file: line 2: detector "a": the pattern is invalid: missing closing )`},
		{one + "x\n    regex: y\n", `rule file: line 4: unknown member "regex"`},
		{one + "x\n    group: -1\n", "rule file: line 4: expected the number of a group, or first"},
		{one + "x\n    group: 1\n", `rule file: line 2: detector "a": the pattern has no group 1`},
		{one + "x\n    entropy: high\n", "rule file: line 4: expected a number"},
		{one + "x\n    entropy: .nan\n", `rule file: line 2: detector "a": the entropy of a byte is between 0 and 8 bits`},
		{one + "x\n  - name: a\n    pattern: y\n", `rule file: line 4: detector "a": another detector has that name`},
		{"extends: default\nwithout: [a]\n", `rule file: line 2: there is no detector "a" to omit`},
		{"name: a\n", "redact: policy: policy has no rules, so nothing would be withheld"},
		{"pointers: [a]\n", "redact: pointer 0: expected a JSON Pointer (RFC 6901): at byte 0: "},
		{strings.Repeat(" ", rulefile.MaxBytes+1), "rule file: it has more than 1048576 bytes"},
		{"names: [" + strings.Repeat("a,", 10_000) + "b]", "rule file: line 1: the list has more than 10000 entries"},
	} {
		r, err := rulefile.Parse([]byte(test.in))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || len(r.Detectors)+len(r.Names) > 0 {
			t.Errorf("%.60q: got %v, want %s", test.in, err, test.want)
		}
		var own *rulefile.Error
		if strings.HasPrefix(test.want, "rule file") && !errors.As(err, &own) {
			t.Errorf("%.60q: got a %T", test.in, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(documented(f))
	f.Add([]byte("extends: upstream\nwithout: [jwt]\nurls: none\n"))
	f.Add([]byte("[[rules]]\nid = 'a'\nregex = 'x(y)'\nkeywords = ['X']\n[rules.allowlist]\nregexes = ['xy']\ncondition = 'AND'\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := rulefile.Parse(data)
		if err == nil {
			_, err = r.Compile()
		} else if len(r.Names)+len(r.Detectors)+len(r.Pointers) > 0 {
			t.Error("rules with an error")
		} else {
			err = nil
		}
		if err != nil {
			t.Error(err)
		}
		list, err := rulefile.ParseGitleaks(data)
		if err != nil && list != nil {
			t.Error("detectors with an error")
		}
		if _, err := secret.Compile(list); err != nil {
			t.Error(err)
		}
	})
}
