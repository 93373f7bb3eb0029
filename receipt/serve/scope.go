package serve

import "github.com/receiptkit/receiptkit/receipt/protocol"

// Scopes of API keys.
const (
	ScopeRead   = protocol.ReceiptsRead             // get and list receipts, and their proofs
	ScopeVerify = protocol.Scope("receipts:verify") // verify what is sent, and what is stored
	ScopeReplay = protocol.Scope("tasks:replay")    // replay tasks
)

// Scopes returns those that a key of a Server can have.
func Scopes() []protocol.Scope { return []protocol.Scope{ScopeRead, ScopeVerify, ScopeReplay} }

// ParseAPIKeys reads a file of API keys with the scopes of a Server.
func ParseAPIKeys(data []byte) (*protocol.APIKeys, error) {
	return protocol.ParseAPIKeys(data, Scopes()...)
}
