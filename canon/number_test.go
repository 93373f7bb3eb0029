package canon

import (
	"strings"
	"testing"
)

// TestLongMantissa verifies that long numbers with an exponent are rejected if strconv and the
// reference misread them, and are accepted otherwise.
func TestLongMantissa(t *testing.T) {
	zeros := strings.Repeat("0", 1_000_000)
	for _, src := range []string{
		"1" + zeros[:800] + "e-800",       // equals 1, misread as 0.1
		"1" + zeros[:1_000] + "e-1000",    // equals 1, misread as 1e-201
		"1" + zeros[:800] + ".0e-800",     // equals 1, misread as 0.1
		"-1" + zeros + "E-1000000",        // equals -1, misread as infinite
		"0." + zeros + "1e1000001",        // equals 1, misread as 0
		"0." + zeros[:9_700] + "1e100000", // infinite, misread as 1e299
		"[" + zeros[:1] + "." + zeros[:799] + "e1]",
	} {
		e := refused(t, []byte(src), codeNumberRange)
		if !strings.HasPrefix(e.Detail, "expected at most 800 bytes before an exponent, found ") {
			t.Errorf("%.20s…: %s", src, e.Detail)
		}
	}
	accepted(t, []byte("1"+zeros[:799]+"e-799"), "1")
	accepted(t, []byte("1"+zeros[:799]+"e-"+zeros+"799"), "1")
	accepted(t, []byte("0."+zeros[:798]+"e1"), "0")
	accepted(t, []byte("0."+zeros[:797]+"1e798"), "1")
	accepted(t, []byte("0."+zeros+"1"), "0")
	accepted(t, []byte("1."+zeros), "1")
	accepted(t, []byte("1."+zeros+"1"), "1")
	accepted(t, []byte("9007199254740993."+zeros), "9007199254740992")
	accepted(t, []byte("9007199254740993."+zeros+"1"), "9007199254740994")
	accepted(t, []byte("1e-"+zeros), "1")
	accepted(t, []byte("1e-1"+zeros), "0")
	accepted(t, []byte("0e1"+zeros), "0")
	refused(t, []byte("1e1"+zeros), codeNumberRange)
	refused(t, []byte("1"+zeros), codeNumberRange)
	refused(t, []byte("1"+zeros+".0"), codeNumberRange)
}
