package serve

import (
	"net/http"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// card is the protocol's description of an agent (HarnAgentCard): here of a server that
// does nothing but verify receipts and give out stored ones.
type card struct {
	ID              string          `json:"id"`
	Object          string          `json:"object"`
	CreatedAt       receipt.Time    `json:"created_at"`
	UpdatedAt       receipt.Time    `json:"updated_at"`
	Metadata        struct{}        `json:"metadata"`
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	ProtocolVersion string          `json:"protocol_version"`
	A2ACard         a2aCard         `json:"a2a_card"`
	Skills          []skill         `json:"skills"`
	Interfaces      []harnInterface `json:"harn_interfaces"`
	Capabilities    []string        `json:"capabilities"`
	AuthSchemes     []string        `json:"auth_schemes"`
}

// a2aCard is the same in the form of the A2A protocol, which is not spoken: it names the
// one interface that there is.
type a2aCard struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Interfaces   []a2aInterface  `json:"supportedInterfaces"`
	Version      string          `json:"version"`
	Capabilities a2aCapabilities `json:"capabilities"`
	InputModes   []string        `json:"defaultInputModes"`
	OutputModes  []string        `json:"defaultOutputModes"`
	Skills       []skill         `json:"skills"`
}

type a2aInterface struct {
	URL      string `json:"url"`
	Binding  string `json:"protocolBinding"`
	Protocol string `json:"protocolVersion"`
}

type a2aCapabilities struct {
	Streaming         bool     `json:"streaming"`
	PushNotifications bool     `json:"pushNotifications"`
	Extensions        []string `json:"extensions"`
	ExtendedAgentCard bool     `json:"extendedAgentCard"`
}

type harnInterface struct {
	Transport string `json:"transport"`
	URL       string `json:"url"`
}

type skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

// getAgentCard serves GET /v1/agent-card. Its URL is relative: by what name the server is
// reached, it does not know.
func getAgentCard(c *call) error {
	const name, about, url = "receipt verifier", "Verifies receipts of the format " + receipt.SchemaMarker + ", and gives out stored ones.", "/v1"
	skills := []skill{{ID: "verify-receipts", Name: "Verify receipts", Description: "Says of a receipt whether it is verified, refuted or undecided, and why.", Tags: []string{"receipts", "verification"}}}
	capabilities, auth := []string{}, []string{}
	if c.s.options.Source != nil {
		capabilities = append(capabilities, "receipts")
	}
	if c.s.options.Replay != nil {
		capabilities = append(capabilities, "replay")
	}
	if c.s.apiKeys() != nil {
		auth = append(auth, "bearer")
	}

	return c.json(http.StatusOK, card{
		ID: "receipt-verifier", Object: "harn_agent_card", CreatedAt: c.s.began, UpdatedAt: c.s.began,
		Name: name, Description: about, ProtocolVersion: protocol.Version,
		A2ACard: a2aCard{Name: name, Description: about, Version: protocol.Version, Skills: skills,
			Interfaces:   []a2aInterface{{URL: url, Binding: "HTTP+JSON", Protocol: protocol.Version}},
			Capabilities: a2aCapabilities{Extensions: []string{}},
			InputModes:   verifyMedia(), OutputModes: []string{mediaJSON, mediaNDJSON}},
		Skills: skills, Interfaces: []harnInterface{{Transport: "rest", URL: url}}, Capabilities: capabilities, AuthSchemes: auth,
	})
}
