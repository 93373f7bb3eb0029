package input

import "testing"

// TestFollow verifies that follow finds the same end as a byte-by-byte scan, regardless of how the
// text is divided.
func TestFollow(t *testing.T) {
	for _, text := range []string{
		`{"a":"\"}\\","b":[{"c":"]\\\""}],"\\":{}}, behind`, `"a\"\\" behind`, `[[[]],"[",{}] behind`, `"\n" behind`, `{"\u00e9\t[":"a\rb"} behind`, `{"torn":"\`, `{"torn":["`, `1 behind`, `}`, `]]`,
	} {
		var slow nesting
		want := 0
		for want < len(text) {
			slow.read(text[want])
			if want++; slow.outside() {
				break
			}
		}
		for cut := range want {
			var at nesting
			n := 0
			if cut > 0 {
				n = at.follow([]byte(text[:cut]))
			}
			n += at.follow([]byte(text[n:]))
			if n != want || at != slow {
				t.Errorf("%s in parts of %d: %d bytes, %+v; expected %d, %+v", text, cut, n, at, want, slow)
			}
		}
	}
}
