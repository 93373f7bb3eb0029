package protocol

import (
	"fmt"
	"net/http"
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
