package custody_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/receiptkit/receiptkit/cmd/receipt/internal/custody"
)

// TestWorkFactor verifies that a key file with an excessive work factor is rejected before the
// command prompts for a passphrase.
func TestWorkFactor(t *testing.T) {
	to, err := age.NewScryptRecipient("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	to.SetWorkFactor(10)
	var b bytes.Buffer
	w, err := age.Encrypt(&b, to)
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}

	const asked, refused = "there is no terminal to prompt", " requires scrypt with 2^"
	for factor, want := range map[string]string{"10": asked, "18": asked, "20": asked, "21": refused, "22": refused, "30": refused, "64": refused, "999999999": refused} {
		text := bytes.Replace(b.Bytes(), []byte(" 10\n"), []byte(" "+factor+"\n"), 1)
		var armored bytes.Buffer
		a := armor.NewWriter(&armored)
		if _, err := a.Write(text); err != nil || a.Close() != nil {
			t.Fatal(err)
		}
		for form, text := range map[string][]byte{"binary": text, "armor": armored.Bytes()} {
			path := filepath.Join(t.TempDir(), "key")
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := custody.Open(t.Context(), environment(t, nil), path, custody.Options{Patience: time.Minute})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("2^%s, %s: %v, expected %q", factor, form, err, want)
			}
		}
	}
}
