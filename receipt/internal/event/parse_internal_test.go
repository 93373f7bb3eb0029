package event

import "testing"

// TestValues verifies that the estimated number of values is an upper bound.
func TestValues(t *testing.T) {
	for text, want := range map[string]int{
		`1`: 1, `"a,b"`: 1, `[1,2]`: 3, `{"a":1,"b":[2]}`: 6, `"\\",1`: 2, `"\",:",1`: 2, `["`: 2, ``: 1, `"a\\\",","b",[`: 4,
	} {
		if got := values([]byte(text)); got != want {
			t.Errorf("%s: %d, expected %d", text, got, want)
		}
	}
}
