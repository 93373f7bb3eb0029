package event

import (
	"strings"

	"github.com/receiptkit/receiptkit/canon"
)

// DeltaID returns the default ID of the delta for an override key.
func DeltaID(key string) string { return "delta_" + strings.Map(alphanumeric, key) }

func alphanumeric(c rune) rune {
	if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
		return c
	}
	return '_'
}

// DeltaPath returns the default path of the delta for an override key: a lifecycle time, a material
// with its ID, or a label if receipts have no corresponding member.
func DeltaPath(key string) string {
	under := "/replay_input/materials"
	switch {
	case key == "time:started_at" || key == "time:created_at" || key == "time:completed_at":
		return "/lifecycle/" + strings.TrimPrefix(key, "time:")
	case strings.HasPrefix(key, "time:"), strings.HasPrefix(key, "secret:"):
		under = "/replay_input/overrides"
	}
	return string(canon.AppendToken([]byte(under), key))
}
