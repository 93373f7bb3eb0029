package protocol

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/receiptkit/receiptkit/receipt"
)

// Version is the version of the protocol that is spoken here. An additive change of the
// protocol keeps it; a breaking one brings another, dated, string.
const Version = "agents-protocol-2026-04-25"

// VersionHeader is the header in which a request states its version.
const VersionHeader = "Harn-Agents-Protocol-Version"

// versions returns the versions that are spoken here.
func versions() []string { return []string{Version} }

// checkVersion returns nil for the headers of a request that states one version that is
// spoken here, and else the error 426 that names those that are.
func checkVersion(h http.Header) error {
	if list := h.Values(VersionHeader); len(list) == 1 && list[0] == Version {
		return nil
	}
	e := &Error{Code: CodeVersion, Param: VersionHeader, Message: fmt.Sprintf("expected the header %s: %s", VersionHeader, Version)}
	e.Details = map[string]any{"supported_versions": versions()}
	return e
}

// A Discovery is the answer to GET /v1, which needs neither a version nor a key.
type Discovery struct {
	Object            string          `json:"object"`
	ProtocolFamily    string          `json:"protocol_family"`
	CurrentVersion    string          `json:"current_version"`
	SupportedVersions []string        `json:"supported_versions"`
	Capabilities      map[string]bool `json:"capabilities"` // rest, sse, websocket, receipts, replay
}

// NewDiscovery returns the discovery of a server: each of the protocol's capabilities is
// true when it is among those that are named, and any other that is named is added.
func NewDiscovery(capabilities ...string) Discovery {
	d := Discovery{"protocol_discovery", "harn_agents_protocol", Version, versions(),
		map[string]bool{"rest": false, "sse": false, "websocket": false, "receipts": false, "replay": false}}
	for _, name := range capabilities {
		d.Capabilities[name] = true
	}
	return d
}

// A Dialect is one of the two forms in which the protocol's own documents have the card of an
// agent. They contradict each other in the member object.
type Dialect string

// The dialects of the card.
const (
	DialectOpenAPI Dialect = "harn_agent_card" // that of the protocol's OpenAPI document: harn_interfaces
	DialectRunner  Dialect = "agent_card"      // that of the protocol's conformance runner: interfaces
)

// A Card is the answer to GET /v1/agent-card, which needs neither a version nor a key. The card
// has the members of both dialects, where they do not contradict each other.
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

// An a2aCard is the same in the form of the A2A protocol.
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

// An a2aInterface is where and how an agent is spoken to.
type a2aInterface struct {
	URL      string `json:"url"`
	Binding  string `json:"protocolBinding"`
	Protocol string `json:"protocolVersion"`
}

// a2aCapabilities are what the A2A protocol asks for.
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

// A Skill is what an agent can do.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
}

// A skillResource is a Skill as the protocol's resource, which the card has; that of A2A has
// the Skill alone. The schemas are null: input and output are not described.
type skillResource struct {
	Skill
	Object       string       `json:"object"`
	CreatedAt    receipt.Time `json:"created_at"`
	UpdatedAt    receipt.Time `json:"updated_at"`
	Metadata     struct{}     `json:"metadata"`
	InputSchema  *struct{}    `json:"input_schema"`
	OutputSchema *struct{}    `json:"output_schema"`
}

// NewCard returns the card of an agent, in a dialect. Its URLs are relative: by what name a
// server is reached, it does not know. transports are of [cardInterface]; modes are the media
// types that are taken and given.
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
	for _, skill := range skills {
		c.Skills = append(c.Skills, skillResource{Skill: skill, Object: "skill", CreatedAt: since, UpdatedAt: since})
	}
	for _, transport := range transports {
		c.HarnInterfaces = append(c.HarnInterfaces, cardInterface{Transport: transport, URL: url})
	}
	if as == DialectRunner {
		c.Interfaces = c.HarnInterfaces
	}
	return c
}
