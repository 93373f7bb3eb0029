package receipt

import (
	"encoding/json"
	"testing"
)

func TestAppendJSON(t *testing.T) {
	for text, want := range map[string]string{
		"a \"b\" é \n":         `"a \"b\" é \n"`,
		"\u007f\u0085\u009b2J": `"\u007f\u0085\u009b2J"`,
		"\u202eabc\u2066":      `"\u202eabc\u2066"`,
		"\U000e0041\u3164":     `"\udb40\udc41\u3164"`,
		"<script>\u2028":       `"\u003cscript\u003e\u2028"`,
		"bad \xff":             `"bad \ufffd"`,
	} {
		got, err := AppendJSON([]byte("x"), text)
		if err != nil || string(got) != "x"+want {
			t.Errorf("%q: got %s, %v, want %s", text, got[1:], err, want)
		}
		var back string
		if err := json.Unmarshal(got[1:], &back); err != nil || text != "bad \xff" && back != text {
			t.Errorf("%q is read again as %q, %v", text, back, err)
		}
	}
	if got, err := AppendJSON([]byte("x"), make(chan int)); err == nil || string(got) != "x" {
		t.Errorf("got %s, %v for a value without JSON", got, err)
	}
}
