//go:build !js

package redact

import "testing"

// TestEveryday: policies with the detectors of everyday use share what is compiled of them,
// and one with a single change of them has its own.
func TestEveryday(t *testing.T) {
	compiled := func(r Rules) *Policy {
		t.Helper()
		p, err := r.Compile()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first, second := compiled(Default()), compiled(Strict())
	if first.scanner != second.scanner {
		t.Error("compiled twice")
	}

	changed := Default()
	last := &changed.Detectors[len(changed.Detectors)-1]
	last.Allow = append(last.Allow, "^somebody$")
	if p := compiled(changed); p.scanner == first.scanner {
		t.Error("a detector was changed, and is looked for as it was")
	}
	fewer := Default()
	fewer.Detectors = fewer.Detectors[1:]
	if p := compiled(fewer); p.scanner == first.scanner {
		t.Error("a detector was left out, and is looked for")
	}
}
