package protocol

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// These are limits on an API key file.
const (
	MaxAPIKeyBytes = 1 << 20 // of the file
	maxAPIKeys     = 1000
	maxAPIKeyName  = 80 // maximum length of a name, in bytes
)

// APIKeys contains the keys that a server accepts. An APIKeys is immutable and safe for concurrent
// use. The zero value accepts no key. A nil *APIKeys represents keys that have not been loaded yet.
type APIKeys struct {
	byDigest map[[32]byte]*Client
	names    map[string]bool
}

// NewAPIKeys returns a set of keys, which may come from a database. It rejects an invalid name, an
// entry without a digest, and two entries with the same name or digest. The number of keys is not
// limited.
func NewAPIKeys(entries ...APIKey) (*APIKeys, error) {
	k := new(APIKeys)
	for i, entry := range entries {
		if err := k.addChecked(entry); err != nil {
			return nil, fmt.Errorf("API key %d of %d: %w", i+1, len(entries), err)
		}
	}
	return k, nil
}

// ParseAPIKeys parses an API key file, which contains one JSON object per line and may contain
// blank lines.
//
//	{"name": "ci", "sha256": "<64 lower-case hex digits>", "created": "2026-04-25T19:00:00Z"}
//
// Each object has the following members. It may also have the members scopes (a subset of known,
// the scopes of the server), issuers, tenants, and workspaces, which limit what the key allows.
// Each of these is an array of strings. An absent member means no limit, an empty array matches
// nothing, and null is rejected. The digest covers the entire key, including rk_:
//
//	printf %s "$KEY" | sha256sum
//
// A file without keys is rejected, as are two entries with the same name or digest. Errors contain
// the line number. The only content of the file that they repeat is the names of keys and members.
func ParseAPIKeys(data []byte, known ...Scope) (*APIKeys, error) {
	if len(data) > MaxAPIKeyBytes {
		return nil, fmt.Errorf("API keys: expected at most %d bytes, found more", MaxAPIKeyBytes)
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
		if err == nil && len(k.names) > maxAPIKeys {
			err = fmt.Errorf("expected at most %d keys", maxAPIKeys)
		}
		if err != nil {
			return nil, fmt.Errorf("API keys, line %d: %w", n, err)
		}
	}

	// A file without keys is an error, because it must never give everyone access.
	if len(k.names) == 0 {
		return nil, fmt.Errorf("API keys: the file holds none, so nobody could get in")
	}
	return k, nil
}

// addChecked is like add, but first checks an entry that no parser has checked.
func (k *APIKeys) addChecked(entry APIKey) error {
	if fault := nameFault(entry.Name); fault != "" {
		return fmt.Errorf("the name %s", fault)
	}
	if entry.SHA256 == [32]byte{} {
		return fmt.Errorf("%q has no digest of a key", entry.Name)
	}
	return k.add(entry)
}

func (k *APIKeys) add(entry APIKey) error {
	if k.names[entry.Name] {
		return fmt.Errorf("the name %q is used twice", entry.Name)
	}
	if other := k.byDigest[entry.SHA256]; other != nil {
		return fmt.Errorf("%q has the key of %q", entry.Name, other.Name)
	}

	if k.names == nil {
		k.names, k.byDigest = map[string]bool{}, map[[32]byte]*Client{}
	}
	k.names[entry.Name], k.byDigest[entry.SHA256] = true, entry.client()
	return nil
}

// Authenticate returns the client whose key is in the Authorization header of the request, "Bearer
// rk_…" with one or more spaces (RFC 9110 section 11.4). If the request has no valid key, the error
// is a 401 error. For a nil *APIKeys, the error is a 503 error. A server whose keys may be replaced
// calls this method on its current keys.
func (k *APIKeys) Authenticate(r *http.Request) (*Client, error) {
	if k == nil {
		return nil, Busy(1, "the server has no API keys yet")
	}
	if list := r.Header.Values("Authorization"); len(list) == 1 {
		if client := k.find(list[0]); client != nil {
			return client, nil
		}
	}
	return nil, unauthorized("expected a valid API key: Authorization: Bearer rk_…")
}

// unauthorized returns a 401 error. RFC 9110 section 11.6.1 requires the response to name the
// authentication scheme.
func unauthorized(message string) error {
	e := &Error{Code: CodeAuth, Message: message}
	return e.with("WWW-Authenticate", `Bearer realm="receipt"`)
}

// find returns the client whose key is in an Authorization header with the given value, or nil.
func (k *APIKeys) find(header string) *Client {
	scheme, key, _ := strings.Cut(header, " ")
	key = strings.TrimLeft(key, " ")
	if !strings.EqualFold(scheme, "Bearer") || len(key) != apiKeyLength || !strings.HasPrefix(key, apiKeyPrefix) {
		return nil
	}

	// The duration of this lookup depends only on the digest. It reveals nothing about the keys,
	// because keys cannot be computed from digests.
	client := k.byDigest[sha256.Sum256([]byte(key))]
	if client == nil {
		return nil
	}
	own := *client // callers may modify the result
	own.Scopes = slices.Clone(client.Scopes)
	return &own
}
