package redact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/redact"
)

func TestSensitive(t *testing.T) {
	for _, name := range []string{
		"persisted_path", "Primary", "RUN_PATH", "snapshot_ref", "snapshot_path", "source_path",
		"authorization", "Proxy-Authorization", "cookie", "Set-Cookie", "api_key", "apiKey", "X-Amz-Security-Token", "x-api-key", "X_Auth_Token", "x-csrf-token", "x-xsrf-token",
		"access_token", "refreshToken", "id-token", "bearer_token", "client_secret", "password", "secret", "passwd", "private_key", "session_token",
		"token", "my-token", "db_password", "THE_SECRET", "GoogleApiKey",
		"to\u212aen", // the lowercase form of the Kelvin sign is k
	} {
		if !redact.Sensitive(name) {
			t.Errorf("%q is not sensitive", name)
		}
	}
	for _, name := range []string{
		"", "input_tokens", "tokens", "token_count", "secrets", "passwords", "persisted-path", "persistedpath", "primary_key", "path", "project_root", "key", "auth", "api key",
		"tоken", "ｔｏｋｅｎ", // a Cyrillic o and full-width letters are different letters
	} {
		if redact.Sensitive(name) {
			t.Errorf("%q is sensitive", name)
		}
	}
}

func TestMark(t *testing.T) {
	m, err := redact.NewMarker()
	if err != nil {
		t.Fatal(err)
	}
	aws, npm := "AK"+"IAIOSFODNN7EXAMPLE", "np"+"m_"+strings.Repeat("a", 36)
	begin, end := "-----BEGIN "+"RSA PRIVATE KEY-----", "-----END "+"RSA PRIVATE KEY-----"
	for _, test := range []struct {
		text, want, rules string
		certain           bool
	}{
		{"é " + aws + "!", "é <redacted:aws_access_key:20>!", "aws_access_key", true},
		{aws + " " + npm + " " + aws, "<redacted:aws_access_key:20> <redacted:npm_token:40> <redacted:aws_access_key:20>", "aws_access_key npm_token", true},
		{"bearer aaaaaaaaaaaa", "<redacted:bearer_token:19>", "bearer_token", false},
		{"token=1 " + npm, "<redacted:sensitive_assignment:7> <redacted:npm_token:40>", "npm_token sensitive_assignment", true},
		{"https://ada@example.org/?token=1&a=2#x=3", "https://example.org/?token=%5Bredacted%5D&a=2#x=3", "url", true},
		{"see https://ada@example.org/ there", "see https://example.org/ there", "url", true},
		{"ftp://ada@example.org/", "ftp://example.org/", "url", true},

		// Because the text consists of a single URL, upstream's rule applies.
		{"https://$USER:$PASS@example.org/", "https://example.org/", "url", true},
		{"HTTPS://ada:" + npm + "@example.org/" + npm, "HTTPS://example.org/<redacted:npm_token:40>", "url npm_token", true},

		// A key block that seems to contain another secret is treated as a single key, and is
		// removed completely.
		{begin + "\n" + aws + "\n" + end, "<redacted:private_key_block:90>", "aws_access_key private_key_block", true},
		{begin + "\nabc\n" + end + begin + end, "<redacted:private_key_block:65><redacted:private_key_block:60>", "private_key_block", true},

		// Removing a match of one pattern can cause a word to match another pattern.
		{"password=tokenAKIA" + "ABCDEFGHIJKLMNOP", "<redacted:sensitive_assignment:14><redacted:aws_access_key:20>", "sensitive_assignment aws_access_key", true},
	} {
		got, ok := m.Mark([]byte(test.text))
		if !ok || string(got.Text) != test.want || strings.Join(got.Rules, " ") != test.rules || got.Certain != test.certain {
			t.Errorf("%q: %q %q %v, expected %q", test.text, got.Text, got.Rules, got.Certain, test.want)
		}
		if again, ok := m.Mark(got.Text); ok {
			t.Errorf("%q: marked twice it is %q", test.text, again.Text)
		}
	}

	for _, text := range []string{
		"", "token", "max_tokens=200", "6b86b273ff34fce19d6b804eff5a3f5747ada4ea", "123e4567-e89b-12d3-a456-426614174000", "the secret of the token is kept",
		"[redacted]", "[withheld]", "<redacted:npm_token:40>", "https://example.org/?page=2&token=", "git clone ssh://git@example.org/a", "ftp://$USER:$PASS@example.org/",
		"x" + aws, aws + "x", begin, end,
	} {
		if got, ok := m.Mark([]byte(text)); ok {
			t.Errorf("%q: %q", text, got.Text)
		}
	}

	// Long strings are searched as a whole, because dividing them into windows would split this
	// key.
	long := strings.Repeat("word ", 100_000) + begin + strings.Repeat("a", 20_000) + end
	if got, ok := m.Mark([]byte(long)); !ok || len(got.Text) > 500_100 || !slices.Equal(got.Rules, []string{"private_key_block"}) {
		t.Errorf("a key of 20,000 letters: %v, %d bytes are left", ok, len(got.Text))
	}
}

// FuzzMark verifies that marking a string that is already marked changes nothing, and that no
// pattern matches a marked string.
func FuzzMark(f *testing.F) {
	m, err := redact.NewMarker()
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"password=tokenAKIA" + "ABCDEFGHIJKLMNOP", "https://a:b@c/?token=d", "Bearer abcdefghijkl", "api_key: 'abcdef'", "<redacted:jwt:40>"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := m.Mark(text)
		if !ok {
			return
		}
		if len(got.Rules) == 0 || string(got.Text) == string(text) {
			t.Errorf("%q: found %q, and %q remains", text, got.Rules, got.Text)
		}
		if again, ok := m.Mark(got.Text); ok {
			t.Errorf("%q: %q, and then %q", text, got.Text, again.Text)
		}
	})
}
