package page

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt/stream"
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
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case stream.Unsafe(r):
			b.WriteString(strings.Trim(fmt.Sprintf("%+q", string(r)), `"`))
		default:
			b.WriteRune(r)
		}
		i += size
	}
	if more > 0 {
		fmt.Fprintf(&b, " … %d more bytes", more)
	}
	return b.String()
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
