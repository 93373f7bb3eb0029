package protocol

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// Version is the protocol version that this package supports. Additive changes to the protocol do
// not change the version; a breaking change gets a new date.
const Version = "agents-protocol-2026-04-25"

// VersionHeader is the header in which a request states its protocol version.
const VersionHeader = "Harn-Agents-Protocol-Version"

// versions returns the supported protocol versions.
func versions() []string { return []string{Version} }

// checkVersion returns nil if the headers state exactly one version and that version is supported.
// Otherwise, it returns a 426 error that lists the supported versions.
func checkVersion(h http.Header) error {
	if list := h.Values(VersionHeader); len(list) == 1 && list[0] == Version {
		return nil
	}
	e := &Error{Code: CodeVersion, Param: VersionHeader, Message: fmt.Sprintf("expected the header %s: %s", VersionHeader, Version)}
	e.Details = map[string]any{"supported_versions": versions()}
	return e
}

// A Discovery is the response to GET /v1, which requires neither a protocol version nor an API key.
type Discovery struct {
	Object            string          `json:"object"`
	ProtocolFamily    string          `json:"protocol_family"`
	CurrentVersion    string          `json:"current_version"`
	SupportedVersions []string        `json:"supported_versions"`
	Capabilities      map[string]bool `json:"capabilities"` // rest, sse, websocket, receipts, replay
}

// NewDiscovery returns the Discovery for a server with the given capabilities. The named
// capabilities are true, even if the protocol does not define their names; all other capabilities
// in the protocol are false.
func NewDiscovery(capabilities ...string) Discovery {
	d := Discovery{"protocol_discovery", "harn_agents_protocol", Version, versions(),
		map[string]bool{"rest": false, "sse": false, "websocket": false, "receipts": false, "replay": false}}
	for _, name := range capabilities {
		d.Capabilities[name] = true
	}
	return d
}

// A Card is the response to GET /v1/agent-card, which requires neither a protocol version nor an
// API key. The documents of the protocol disagree about the card's format. A Card uses the format
// in the OpenAPI document, unless Runner is set.
type Card struct {
	ID           string
	Name         string
	Description  string
	Since        receipt.Time // when the agent was created and updated
	Transports   []string     // transports of the protocol: rest, sse, websocket, a2a, mcp, acp
	Input        []string     // media types that the agent accepts
	Output       []string     // media types that the agent returns
	Skills       []Skill
	Capabilities []string
	AuthSchemes  []string
	Runner       bool // use the format that the protocol's conformance runner reads
}

// A cardResource represents a Card as a protocol resource.
type cardResource struct {
	ID              string          `json:"id"`
	Object          string          `json:"object"`
	CreatedAt       receipt.Time    `json:"created_at"`
	UpdatedAt       receipt.Time    `json:"updated_at"`
	Metadata        struct{}        `json:"metadata"`
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	ProtocolVersion string          `json:"protocol_version"`
	A2ACard         a2aCard         `json:"a2a_card"`
	Skills          []skillResource `json:"skills"`
	HarnInterfaces  []cardInterface `json:"harn_interfaces"`
	Interfaces      []cardInterface `json:"interfaces,omitempty"` // of the runner's form
	Capabilities    []string        `json:"capabilities"`
	AuthSchemes     []string        `json:"auth_schemes"`
}

// An a2aCard represents the card in the A2A protocol's format.
type a2aCard struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Interfaces   []a2aInterface  `json:"supportedInterfaces"`
	Version      string          `json:"version"`
	Capabilities a2aCapabilities `json:"capabilities"`
	InputModes   []string        `json:"defaultInputModes"`
	OutputModes  []string        `json:"defaultOutputModes"`
	Skills       []Skill         `json:"skills"`
}

// An a2aInterface is an address of an agent, together with the protocol that is used there.
type a2aInterface struct {
	URL      string `json:"url"`
	Binding  string `json:"protocolBinding"`
	Protocol string `json:"protocolVersion"`
}

// a2aCapabilities are the capabilities that the A2A protocol requires a card to list.
type a2aCapabilities struct {
	Streaming         bool     `json:"streaming"`
	PushNotifications bool     `json:"pushNotifications"`
	Extensions        []string `json:"extensions"`
	ExtendedAgentCard bool     `json:"extendedAgentCard"`
}

// A cardInterface is a transport of the protocol: rest, sse, websocket, a2a, mcp, or acp.
type cardInterface struct {
	Transport string `json:"transport"`
	URL       string `json:"url"`
}

// A Skill is an ability of an agent.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

// A skillResource represents a Skill as a protocol resource in the card; the A2A card contains the
// Skill itself. The schemas are null because a Skill does not describe its input and output.
type skillResource struct {
	Skill
	Object       string       `json:"object"`
	CreatedAt    receipt.Time `json:"created_at"`
	UpdatedAt    receipt.Time `json:"updated_at"`
	Metadata     struct{}     `json:"metadata"`
	InputSchema  *struct{}    `json:"input_schema"`
	OutputSchema *struct{}    `json:"output_schema"`
}

// MarshalJSON returns the card as a protocol resource. Its URLs are relative, because a server does
// not know the host names under which it is reachable.
func (c Card) MarshalJSON() ([]byte, error) {
	const url = "/v1"
	r := cardResource{
		ID: c.ID, Object: "harn_agent_card", CreatedAt: c.Since, UpdatedAt: c.Since, Name: c.Name, Description: c.Description, ProtocolVersion: Version,
		A2ACard: a2aCard{Name: c.Name, Description: c.Description, Version: Version, Skills: append([]Skill{}, c.Skills...),
			Interfaces:   []a2aInterface{{URL: url, Binding: "HTTP+JSON", Protocol: Version}},
			Capabilities: a2aCapabilities{Streaming: slices.Contains(c.Transports, "sse"), Extensions: []string{}},
			InputModes:   c.Input, OutputModes: c.Output},
		Skills: []skillResource{}, Capabilities: append([]string{}, c.Capabilities...), AuthSchemes: append([]string{}, c.AuthSchemes...),
	}

	// The lists in a card are never null.
	for _, skill := range c.Skills {
		r.Skills = append(r.Skills, skillResource{Skill: skill, Object: "skill", CreatedAt: c.Since, UpdatedAt: c.Since})
	}
	for _, transport := range c.Transports {
		r.HarnInterfaces = append(r.HarnInterfaces, cardInterface{Transport: transport, URL: url})
	}
	if c.Runner {
		r.Object, r.Interfaces = "agent_card", r.HarnInterfaces
	}
	return json.Marshal(r)
}
