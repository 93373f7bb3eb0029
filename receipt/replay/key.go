package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxKey is how many bytes an override key may have.
const MaxKey = 512

// A Key names what an override replaces, such as llm:main:1. Keys are compared byte for
// byte.
type Key struct {
	Prefix string // llm, mcp, secret, time or host
	Of     string // the server of mcp, the capability of host; else ""
	Name   string // the rest, which may have colons
}

// ParseKey reads a key: a prefix, a colon, and a name; of mcp and host two names with a
// colon between them, of which the first has none. Names are not empty and consist of
// printable characters other than the space. The error says what was expected and what was found; of the text it
// shows the prefix alone, as a name may be that of a secret.
func ParseKey(text string) (Key, error) {
	prefix, rest, cut := strings.Cut(text, ":")
	k := Key{Prefix: prefix, Name: rest}
	switch at := strings.IndexFunc(text, unprintable); {
	case len(text) > MaxKey:
		return Key{}, fmt.Errorf("expected a key of at most %d bytes, found %d", MaxKey, len(text))
	case !utf8.ValidString(text):
		return Key{}, errors.New("expected a key of printable characters without spaces, found bytes that are not UTF-8")
	case at >= 0:
		c, _ := utf8.DecodeRuneInString(text[at:])
		return Key{}, fmt.Errorf("expected a key of printable characters without spaces, found %U at byte %d", c, at)
	case !cut:
		return Key{}, errors.New("expected a key of the prefix llm, mcp, secret, time or host, found no colon")
	case !slices.Contains([]string{"llm", "mcp", "secret", "time", "host"}, prefix):
		return Key{}, fmt.Errorf("expected a key of the prefix llm, mcp, secret, time or host, found %s", quote(prefix))
	}

	if prefix == "mcp" || prefix == "host" {
		if k.Of, k.Name, cut = strings.Cut(rest, ":"); !cut {
			return Key{}, fmt.Errorf("expected %s:, a name, a colon, and the id of a call, found no second colon", prefix)
		}
		if k.Of == "" {
			return Key{}, fmt.Errorf("expected a name after the first colon of %s, found none", prefix)
		}
	}
	if k.Name == "" {
		return Key{}, fmt.Errorf("expected a name after the last colon of %s, found none", prefix)
	}
	return k, nil
}

func unprintable(c rune) bool { return c == ' ' || !unicode.IsPrint(c) }

// String returns the text of the key.
func (k Key) String() string {
	if k.Of != "" {
		return k.Prefix + ":" + k.Of + ":" + k.Name
	}
	return k.Prefix + ":" + k.Name
}

// isTaskTime reports whether a key names one of the times of the task's life.
func isTaskTime(key string) bool {
	return key == "time:created_at" || key == "time:started_at" || key == "time:completed_at"
}
