package receipt

import (
	"testing"
	"time"
)

// TestTimeJSON verifies that only a string in quotation marks is a time.
func TestTimeJSON(t *testing.T) {
	const text = "2026-04-25T19:17:33Z"
	for data, want := range map[string]bool{`"` + text + `"`: true, text: false, `"` + text: false, `"` + text + "x": false, "x" + text + `"`: false, `"x"`: false, `"`: false, "": false} {
		if err := new(Time).UnmarshalJSON([]byte(data)); (err == nil) != want {
			t.Errorf("%s: %v", data, err)
		}
	}
}

// TestTimeCharacters verifies that a time is rejected if any of its characters is replaced by one
// that cannot be in its place, and that nothing may follow it.
func TestTimeCharacters(t *testing.T) {
	const good = "2026-04-25T19:17:33.123+01:30"
	if _, err := ParseTime(good); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{good + "0", good[:23], good[:23] + "Zx", good[:23] + "zz", good[:23] + "Z ", good[:23] + "x", good[:20] + "Z", good[:11] + "24" + good[13:], good[:14] + "60" + good[16:], good[:17] + "61" + good[19:]} {
		if got, err := ParseTime(text); err == nil {
			t.Errorf("%s is read as %v", text, got)
		}
	}
	for i := range good {
		for _, c := range "x/:;-. \x00" {
			if string(c) == good[i:i+1] || i == 10 && c == ' ' || good[i] == '+' && c == '-' {
				continue
			}
			text := good[:i] + string(c) + good[i+1:]
			if got, err := ParseTime(text); err == nil {
				t.Errorf("%s is read as %v", text, got)
			}
		}
	}
}

// TestTimeYears verifies that only a time whose year has four digits is written.
func TestTimeYears(t *testing.T) {
	for year, want := range map[int]bool{-1: false, 0: true, 9999: true, 10000: false} {
		if text, err := At(time.Date(year, 7, 1, 0, 0, 0, 0, time.UTC)).MarshalText(); (err == nil) != want || (len(text) > 0) != want {
			t.Errorf("%d: %s, %v", year, text, err)
		}
	}
}
