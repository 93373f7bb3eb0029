package input

import (
	"fmt"

	"github.com/receiptkit/receiptkit/chain"
)

// StreamText formats the name of a stream: issuer, tenant if there is one, workspace.
func StreamText(s chain.Stream) string {
	text := s.Issuer + " / " + s.Workspace
	if s.HasTenant {
		text = s.Issuer + " / " + s.Tenant + " / " + s.Workspace
	}
	return fmt.Sprintf("%q", text)
}
