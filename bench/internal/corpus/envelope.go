package corpus

import (
	"fmt"
	"strings"
	"time"
)

// issuerID is the issuer of all receipts; streams are its workspaces.
const issuerID = "harness_example"

// An envelope contains the members that do not depend on the task.
type envelope struct {
	stream int
	first  bool // of its stream
	issued time.Time
	key    string
}

func (e envelope) workspace() string { return fmt.Sprintf("workspace_repo_%04d", e.stream+1) }

// chain returns the chain member, with placeholders for the hashes.
func (e envelope) chain() string {
	room := `"sha256:` + strings.Repeat("0", 64) + `"`
	previous := room
	if e.first {
		previous = "null"
	}
	return fmt.Sprintf(`"chain":{"previous_receipt_hash":%s,"receipt_hash":%s}`, previous, room)
}

// signatures returns the signatures member, with a placeholder for the one signature. Its entry
// may have additional members.
func (e envelope) signatures(more string) string {
	return fmt.Sprintf(`"signatures":[{"key_id":%q,"algorithm":"ed25519","signature":"base64:%s=="%s}]`,
		e.key, strings.Repeat("A", 86), more)
}
