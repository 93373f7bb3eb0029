package protocol

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/receipt"
)

// apiKeyPrefix is the prefix of every API key. Secret scanners can recognize keys by this prefix.
const apiKeyPrefix = "rk_"

// apiKeyLength is the length of an API key: the prefix, followed by 32 bytes as base64url without
// padding.
const apiKeyLength = len(apiKeyPrefix) + 43

// An APIKey is an entry in an API key file. It contains the digest of a key; the key cannot be
// computed from it.
type APIKey struct {
	Name    string    // the holder's name, for logs
	SHA256  [32]byte  // of the key
	Created time.Time // in UTC
	Scopes  []Scope   // nil allows all scopes; empty allows none
	Reach   Reach     // the streams that a client with this key may see
}

// MarshalJSON returns the entry in the form that [ParseAPIKeys] accepts.
func (k APIKey) MarshalJSON() ([]byte, error) {
	text := canon.AppendString([]byte(`{"name":`), k.Name)
	text = fmt.Appendf(text, `,"sha256":"%x","created":"%s"`, k.SHA256, k.Created.UTC().Format(time.RFC3339))

	// An entry without lists has no limits, so the zero Reach is written as an empty list.
	issuers := k.Reach.issuers
	if !k.Reach.granted {
		issuers = []string{}
	}
	text = appendNames(text, "scopes", k.Scopes)
	text = appendNames(text, "issuers", issuers)
	text = appendNames(text, "tenants", k.Reach.tenants)
	return append(appendNames(text, "workspaces", k.Reach.workspaces), '}'), nil
}

// client returns the client to whom the key belongs.
func (k *APIKey) client() *Client {
	return &Client{Name: k.Name, Actor: k.SHA256, Scopes: slices.Clone(k.Scopes), AllScopes: k.Scopes == nil, Reach: k.Reach}
}

// appendNames appends a member whose value is a list of names. It appends nothing if names is nil,
// which means no limit.
func appendNames[T ~string](dst []byte, member string, names []T) []byte {
	if names == nil {
		return dst
	}

	dst = append(canon.AppendString(append(dst, ','), member), ":["...)
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = canon.AppendString(dst, string(name))
	}
	return append(dst, ']')
}

// NewAPIKey generates an API key from 256 random bits: rk_ followed by 43 characters of base64url.
// The key is shown to its owner once and is not stored; only the entry is added to the API key
// file.
func NewAPIKey(random io.Reader, name string, created time.Time) (text string, entry APIKey, err error) {
	if fault := nameFault(name); fault != "" {
		return "", APIKey{}, fmt.Errorf("the name of an API key %s", fault)
	}

	var secret [32]byte
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return "", APIKey{}, fmt.Errorf("protocol: generating an API key: %w", err)
	}

	text = apiKeyPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
	return text, APIKey{Name: name, SHA256: sha256.Sum256([]byte(text)), Created: created.UTC().Truncate(time.Second), Reach: Everything()}, nil
}

// nameFault describes why a name is invalid, or returns "" if it is valid. Names are shown in logs
// and on terminals.
func nameFault(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxAPIKeyName:
		return fmt.Sprintf("has %d bytes, expected at most %d", len(name), maxAPIKeyName)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "has something else than visible ASCII"
	}
	return ""
}

// parseAPIKey parses a line of an API key file.
func parseAPIKey(line []byte, known []Scope) (k APIKey, err error) {
	doc, err := canon.Parse(line)
	if err != nil {
		return k, fmt.Errorf("expected a JSON object on one line: %w", WithoutText(err))
	}

	root := doc.Root()
	if root.Kind() != canon.KindObject {
		return k, fmt.Errorf("expected a JSON object")
	}
	k.Reach = Everything()

	// An unknown member may be a limit that this version does not support, so it is rejected.
	for name, value := range root.Members() {
		switch name.String() {
		case "name", "sha256", "created":
			if value.Kind() != canon.KindString {
				return k, fmt.Errorf("the member %s is not a string", name.String())
			}
		case "scopes":
			k.Scopes, err = parseScopes(value, known)
		case "issuers":
			k.Reach.issuers, err = parseNames(value)
		case "tenants":
			k.Reach.tenants, err = parseNames(value)
		case "workspaces":
			k.Reach.workspaces, err = parseNames(value)
		default:
			return k, fmt.Errorf("unknown member %.40q; expected name, sha256, created, and perhaps scopes, issuers, tenants, workspaces", name.String())
		}
		if err != nil {
			return k, fmt.Errorf("the member %s %w", name.String(), err)
		}
	}

	k.Name = root.Member("name").String()
	if fault := nameFault(k.Name); fault != "" {
		return k, fmt.Errorf("the member name %s", fault)
	}

	// Exactly one form of digest is accepted, so that a pasted key is never mistaken for a digest.
	digest := root.Member("sha256").String()
	if n, err := hex.Decode(k.SHA256[:], []byte(digest[:min(len(digest), 64)])); err != nil || n != 32 || len(digest) != 64 || digest != strings.ToLower(digest) {
		return k, fmt.Errorf("the member sha256 must be the digest of a key, 64 lowercase hexadecimal digits")
	}

	if k.Created, err = receipt.ParseTime(root.Member("created").String()); err != nil {
		return k, fmt.Errorf("the member created must be an RFC 3339 time")
	}

	return k, nil
}

// parseNames parses an array of non-empty strings.
func parseNames(value canon.Node) ([]string, error) {
	if value.Kind() != canon.KindArray {
		return nil, fmt.Errorf("must be an array of strings; omit it if there is no limit")
	}

	// An empty name would match every receipt that lacks the member.
	names := []string{}
	for _, element := range value.Elements() {
		name := element.String()
		switch {
		case element.Kind() != canon.KindString || name == "":
			return nil, fmt.Errorf("must contain only non-empty strings")
		case slices.Contains(names, name):
			return nil, fmt.Errorf("contains a duplicate")
		}
		names = append(names, name)
	}

	return names, nil
}

func parseScopes(value canon.Node, known []Scope) ([]Scope, error) {
	names, err := parseNames(value)
	if err != nil {
		return nil, err
	}

	// An unknown scope may be misspelled, so it is rejected rather than ignored.
	scopes := []Scope{}
	for _, name := range names {
		if scope := Scope(name); slices.Contains(known, scope) {
			scopes = append(scopes, scope)
			continue
		}
		return nil, fmt.Errorf("must contain only %q", known)
	}
	return scopes, nil
}
