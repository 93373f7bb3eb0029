package protocol

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
)

// Limits of a file of API keys.
const (
	MaxAPIKeyBytes = 1 << 20 // of the file
	maxAPIKeys     = 1000
	maxAPIKeyName  = 80 // bytes of a name
)

// APIKeys are the keys that a server accepts. They are immutable and safe for concurrent use.
type APIKeys struct{ entries []APIKey }

// ParseAPIKeys reads a file of API keys, with one JSON object per line and optional blank lines,
//
//	{"name": "ci", "sha256": "<64 lower-case hex digits>", "created": "2026-04-25T19:00:00Z"}
//
// Each object has these members. It may also have the members scopes (of known, the scopes of the
// server), issuers, tenants, and workspaces, which limit the key. Each is an array of strings. An
// absent member is no limit, an empty array matches nothing, and null is refused. The digest is of
// the key, including rk_:
//
//	printf %s "$KEY" | sha256sum
//
// A file without keys is refused, as are two entries with the same name or digest. Errors state the
// line, and of its content only the names of members.
func ParseAPIKeys(data []byte, known ...Scope) (*APIKeys, error) {
	if len(data) > MaxAPIKeyBytes {
		return nil, refuse("API keys: expected at most %d bytes, found more", MaxAPIKeyBytes)
	}

	k := new(APIKeys)
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}

		entry, err := parseAPIKey(line, known)
		if err == nil {
			err = k.add(entry)
		}
		if err != nil {
			return nil, refuse("API keys, line %d: %w", n, err)
		}
	}

	// A file without keys is a mistake, never a server that accepts everybody.
	if len(k.entries) == 0 {
		return nil, refuse("API keys: the file holds none, so nobody could get in")
	}
	return k, nil
}

func (k *APIKeys) add(entry APIKey) error {
	for _, other := range k.entries {
		switch {
		case other.Name == entry.Name:
			return fmt.Errorf("the name %q is used twice", entry.Name)
		case other.SHA256 == entry.SHA256:
			return fmt.Errorf("%q has the key of %q", entry.Name, other.Name)
		}
	}
	if k.entries = append(k.entries, entry); len(k.entries) > maxAPIKeys {
		return fmt.Errorf("expected at most %d keys", maxAPIKeys)
	}
	return nil
}

// Authenticate returns the client whose key the request has in its Authorization header,
// "Bearer rk_…" with one space or more (RFC 9110 section 11.4). Otherwise, the error is
// 401. All entries are compared, each in constant time.
func (k *APIKeys) Authenticate(r *http.Request) (*Client, error) {
	if list := r.Header.Values("Authorization"); len(list) == 1 {
		if key := k.find(list[0]); key != nil {
			return key.client(), nil
		}
	}
	return nil, unauthorized()
}

// unauthorized returns the error 401. RFC 9110 section 11.6.1 requires the name of the
// scheme in the answer.
func unauthorized() error {
	e := &Error{Code: CodeAuth, Message: "expected a valid API key: Authorization: Bearer rk_…"}
	return e.With("WWW-Authenticate", `Bearer realm="receipt"`)
}

// find returns the entry of the key in the value of an Authorization header, or nil.
func (k *APIKeys) find(header string) *APIKey {
	scheme, key, _ := strings.Cut(header, " ")
	key = strings.TrimLeft(key, " ")
	if !strings.EqualFold(scheme, "Bearer") || len(key) != apiKeyLength || !strings.HasPrefix(key, apiKeyPrefix) {
		return nil
	}

	// Every digest is compared, so the time that this takes reveals nothing about the keys.
	sum := sha256.Sum256([]byte(key))
	found := -1
	for i := range k.entries {
		if subtle.ConstantTimeCompare(sum[:], k.entries[i].SHA256[:]) == 1 {
			found = i
		}
	}

	if found < 0 {
		return nil
	}
	return &k.entries[found]
}

// LoadedKeys is an [Authenticator] with API keys that may be replaced. It returns the current keys.
// Before they are loaded it returns nil, and requests are answered with 503.
type LoadedKeys func() *APIKeys

// Authenticate calls Authenticate of the current keys.
func (f LoadedKeys) Authenticate(r *http.Request) (*Client, error) {
	if keys := f(); keys != nil {
		return keys.Authenticate(r)
	}
	return nil, Busy(1, "the server has no API keys yet")
}
