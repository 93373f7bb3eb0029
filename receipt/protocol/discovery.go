package protocol

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// Version is the supported version of the protocol. Additive changes keep it; a breaking change
// gets a new date.
const Version = "agents-protocol-2026-04-25"

// VersionHeader is the header in which a request states its version.
const VersionHeader = "Harn-Agents-Protocol-Version"

// versions returns the supported versions.
func versions() []string { return []string{Version} }

// checkVersion returns nil if the headers state exactly one version and it is supported. Otherwise,
// the error is 426 and lists the supported versions.
func checkVersion(h http.Header) error {
	if list := h.Values(VersionHeader); len(list) == 1 && list[0] == Version {
		return nil
	}
	e := &Error{Code: CodeVersion, Param: VersionHeader, Message: fmt.Sprintf("expected the header %s: %s", VersionHeader, Version)}
	e.Details = map[string]any{"supported_versions": versions()}
	return e
}

// A Discovery is the answer to GET /v1, which requires neither a version nor a key.
type Discovery struct {
	Object            string          `json:"object"`
	ProtocolFamily    string          `json:"protocol_family"`
	CurrentVersion    string          `json:"current_version"`
	SupportedVersions []string        `json:"supported_versions"`
	Capabilities      map[string]bool `json:"capabilities"` // rest, sse, websocket, receipts, replay
}

// NewDiscovery returns the discovery of a server. The named capabilities are true, including names
// that the protocol does not define; its other capabilities are false.
func NewDiscovery(capabilities ...string) Discovery {
	d := Discovery{"protocol_discovery", "harn_agents_protocol", Version, versions(),
		map[string]bool{"rest": false, "sse": false, "websocket": false, "receipts": false, "replay": false}}
	for _, name := range capabilities {
		d.Capabilities[name] = true
	}
	return d
}

// A Dialect is one of the two forms of an agent card in the protocol's own documents. They
// contradict each other in the member object.
type Dialect string

// The dialects of the card.
const (
	DialectOpenAPI Dialect = "harn_agent_card" // that of the protocol's OpenAPI document: harn_interfaces
	DialectRunner  Dialect = "agent_card"      // that of the protocol's conformance runner: interfaces
)

// A Card is the answer to GET /v1/agent-card, which requires neither a version nor a key. It has
// the members of both dialects, except where they contradict each other.
type Card struct {
	ID              string          `json:"id"`
	Object          Dialect         `json:"object"`
	CreatedAt       receipt.Time    `json:"created_at"`
	UpdatedAt       receipt.Time    `json:"updated_at"`
	Metadata        struct{}        `json:"metadata"`
	Name            string          `json:"name"`
	Description     string          `json:"description"`
	ProtocolVersion string          `json:"protocol_version"`
	A2ACard         a2aCard         `json:"a2a_card"`
	Skills          []skillResource `json:"skills"`
	HarnInterfaces  []cardInterface `json:"harn_interfaces"`
	Interfaces      []cardInterface `json:"interfaces,omitempty"` // of the runner's dialect
	Capabilities    []string        `json:"capabilities"`
	AuthSchemes     []string        `json:"auth_schemes"`
}

// An a2aCard is the card in the form of the A2A protocol.
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

// An a2aInterface is an address of an agent and the protocol that it speaks there.
type a2aInterface struct {
	URL      string `json:"url"`
	Binding  string `json:"protocolBinding"`
	Protocol string `json:"protocolVersion"`
}

// a2aCapabilities are the capabilities that the A2A protocol requires.
type a2aCapabilities struct {
	Streaming         bool     `json:"streaming"`
	PushNotifications bool     `json:"pushNotifications"`
	Extensions        []string `json:"extensions"`
	ExtendedAgentCard bool     `json:"extendedAgentCard"`
}

// A cardInterface is a transport of the protocol: rest, sse, websocket, a2a, mcp, acp.
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

// A skillResource is a Skill as a resource of the protocol, as in the card; the A2A card contains
// the plain Skill. The schemas are null because input and output are not described.
type skillResource struct {
	Skill
	Object       string       `json:"object"`
	CreatedAt    receipt.Time `json:"created_at"`
	UpdatedAt    receipt.Time `json:"updated_at"`
	Metadata     struct{}     `json:"metadata"`
	InputSchema  *struct{}    `json:"input_schema"`
	OutputSchema *struct{}    `json:"output_schema"`
}

// NewCard returns the card of an agent in a dialect. Its URLs are relative, because a server does
// not know the names by which it is reached. transports are those of cardInterface; in and out are
// the media types that the agent accepts and returns.
func NewCard(as Dialect, id, name, description string, since receipt.Time, transports, in, out []string, skills ...Skill) Card {
	const url = "/v1"
	c := Card{
		ID: id, Object: as, CreatedAt: since, UpdatedAt: since, Name: name, Description: description, ProtocolVersion: Version,
		A2ACard: a2aCard{Name: name, Description: description, Version: Version, Skills: append([]Skill{}, skills...),
			Interfaces:   []a2aInterface{{URL: url, Binding: "HTTP+JSON", Protocol: Version}},
			Capabilities: a2aCapabilities{Streaming: slices.Contains(transports, "sse"), Extensions: []string{}},
			InputModes:   in, OutputModes: out},
		Skills: []skillResource{}, Capabilities: []string{}, AuthSchemes: []string{},
	}

	// The lists of the card are never null.
	for _, skill := range skills {
		c.Skills = append(c.Skills, skillResource{Skill: skill, Object: "skill", CreatedAt: since, UpdatedAt: since})
	}
	for _, transport := range transports {
		c.HarnInterfaces = append(c.HarnInterfaces, cardInterface{Transport: transport, URL: url})
	}

	// The runner reads another member.
	if as == DialectRunner {
		c.Interfaces = c.HarnInterfaces
	}
	return c
}
