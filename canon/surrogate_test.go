package canon

import (
	"errors"
	"testing"
)

// TestSurrogateAlone verifies that the second half of a surrogate pair must be written as a \u
// escape.
func TestSurrogateAlone(t *testing.T) {
	for _, text := range []string{`"\ud83d\nde00"`, `"\ud83d\"de00"`, `"\ud83d/ude00"`, `"\ud83d\Ude00"`, `"\ud83d"`} {
		_, err := Parse([]byte(text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Code != codeLoneSurrogate {
			t.Errorf("%s: %v, want %s", text, err, codeLoneSurrogate)
		}
	}
	if _, err := Parse([]byte(`"\ud83d\ude00"`)); err != nil {
		t.Error(err)
	}
}
