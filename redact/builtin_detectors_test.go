package redact

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"testing"
)

type sample struct {
	Rule, File, Kind, B64 string
	text                  []byte
}

func samples(t testing.TB) []sample {
	data, err := os.ReadFile("../../shared/vectors/secrets-gitleaks/samples.b64.json")
	if err != nil {
		t.Skip(err)
	}
	var list []sample
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if list[i].text, err = base64.StdEncoding.DecodeString(list[i].B64); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func TestMeasure(t *testing.T) {
	for _, set := range []struct {
		name string
		d    []Detector
	}{{"upstream", UpstreamDetectors()}, {"default", DefaultDetectors()}} {
		s, err := Compile(set.d)
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for _, x := range samples(t) {
			spans := s.Scan(x.text, nil)
			n[x.Kind]++
			if len(spans) > 0 {
				n[x.Kind+" hit"]++
			}
			if set.name == "default" && (len(spans) > 0) == (x.Kind == "negative") {
				t.Logf("%s %s %q", x.Kind, x.Rule, x.text[:min(200, len(x.text))])
				for _, sp := range spans {
					t.Logf("      %s %q", s.Name(sp.Detector), x.text[sp.Start:sp.End])
				}
			}
		}
		t.Log(set.name, n)
	}
}
