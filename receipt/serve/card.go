package serve

import (
	"net/http"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// getAgentCard serves GET /v1/agent-card: here of a server that does nothing but verify
// receipts and give out stored ones. The A2A protocol is not spoken: that card names the one
// interface that there is.
func getAgentCard(c *call) error {
	const about = "Verifies receipts of the format " + receipt.SchemaMarker + ", and gives out stored ones."
	skill := protocol.Skill{ID: "verify-receipts", Name: "Verify receipts", Description: "Says of a receipt whether it is verified, refuted or undecided, and why.", Tags: []string{"receipts", "verification"}}
	card := protocol.NewCard(protocol.DialectOpenAPI, "receipt-verifier", "receipt verifier", about, c.s.began, []string{"rest"}, verifyMedia(), []string{mediaJSON, mediaNDJSON}, skill)
	if c.s.options.Source != nil {
		card.Capabilities = append(card.Capabilities, "receipts")
	}
	if c.s.options.Replay != nil {
		card.Capabilities = append(card.Capabilities, "replay")
	}
	if !c.s.options.Public {
		card.AuthSchemes = append(card.AuthSchemes, "bearer")
	}
	return c.json(http.StatusOK, card)
}
