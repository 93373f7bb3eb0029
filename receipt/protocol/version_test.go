package protocol

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestVersion verifies that a request must have exactly one header with a supported version, and
// that the 426 error lists the supported versions.
func TestVersion(t *testing.T) {
	for _, c := range []struct {
		header http.Header
		good   bool
	}{
		{http.Header{"Harn-Agents-Protocol-Version": {"agents-protocol-2026-04-25"}}, true},
		{http.Header{}, false},
		{http.Header{"Harn-Agents-Protocol-Version": {""}}, false},
		{http.Header{"Harn-Agents-Protocol-Version": {"agents-protocol-1900-01-01"}}, false},
		{http.Header{"Harn-Agents-Protocol-Version": {"Agents-Protocol-2026-04-25"}}, false},
		{http.Header{"Harn-Agents-Protocol-Version": {"agents-protocol-2026-04-25, agents-protocol-1900-01-01"}}, false},
		{http.Header{"Harn-Agents-Protocol-Version": {"agents-protocol-2026-04-25", "agents-protocol-2026-04-25"}}, false},
	} {
		err := checkVersion(c.header)
		if c.good {
			if err != nil {
				t.Error(c.header, err)
			}
			continue
		}
		e := errorOf(err)
		text, _ := json.Marshal(e.Envelope("r"))
		if err == nil || e.status() != 426 || !strings.Contains(string(text), `"details":{"supported_versions":["agents-protocol-2026-04-25"]}`) {
			t.Errorf("%v: %s", c.header, text)
		}
	}
}

// TestDiscovery verifies that GET /v1 lists each capability as true or false.
func TestDiscovery(t *testing.T) {
	text, err := json.Marshal(NewDiscovery("rest", "sse"))
	const want = `{"object":"protocol_discovery","protocol_family":"harn_agents_protocol","current_version":"agents-protocol-2026-04-25",` +
		`"supported_versions":["agents-protocol-2026-04-25"],"capabilities":{"receipts":false,"replay":false,"rest":true,"sse":true,"websocket":false}}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}
