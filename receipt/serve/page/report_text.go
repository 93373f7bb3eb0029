package page

import (
	"fmt"
	"strings"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/canon/foreign"
	"github.com/receiptkit/receiptkit/chain"
)

// maxShown is how many bytes of one foreign text stand in the plain part.
const maxShown = 1200

// visible writes what a reader would not see as escapes, and cuts long texts.
func visible(v any) string {
	s := fmt.Sprint(v)
	more := 0
	if len(s) > maxShown {
		s, more = strings.ToValidUTF8(s[:maxShown], ""), len(s)-maxShown
	}
	s = foreign.Escape(s)
	if more > 0 {
		s += fmt.Sprintf(" … %d more bytes", more)
	}
	return s
}

func hashText(d canon.Digest) string { return d.String() }

// streamText names a stream: issuer, tenant, workspace.
func streamText(s chain.Stream) string {
	parts := []string{s.Issuer}
	if s.HasTenant {
		parts = append(parts, s.Tenant)
	}
	return visible(strings.Join(append(parts, s.Workspace), " / "))
}
