package redact

import (
	"strings"

	"github.com/receiptkit/receiptkit/redact/secret"
)

// Upstream returns the rules of the protocol's own harness: its sensitive names,
// its rule for strings that are one http(s) URL, and its 16 patterns. They miss
// much and hit much that is not a secret; they are here to compare with.
func Upstream() Rules {
	return Rules{
		Name:      "upstream",
		Names:     upstreamNames(),
		Pointers:  []string{"/**/event_log_pointers/*/path", "/**/transcript_pointers/*/path"},
		URLs:      URLsWhole,
		Detectors: secret.Upstream(),
	}
}

// Default returns the rules for everyday use: upstream's names, headers, URLs
// anywhere in a text, [secret.Default], which finds more secrets and fewer
// others, and the name of a home directory.
func Default() Rules {
	r := Upstream()
	r.Name = "default"
	r.Headers, r.Members, r.References, r.URLs = true, true, true, URLsAnywhere
	r.Detectors = append(secret.Default(), secret.HomePath())
	return r
}

// Strict returns the rules of [Default] and withholds what people and models
// wrote: the members that usually hold it, by name, and the places of a receipt
// that are free text. What tools were called with and what they returned is
// among that.
func Strict() Rules {
	r := Default()
	r.Name = "strict"

	// Upstream's replay-only mode, and in the second line what it overlooks.
	r.Names = append(r.Names, strings.Fields(`
		args arguments blocks content data private_reasoning prompt raw_input raw_output result response_text summary system system_prompt task text thinking visible_text
		input output stdout stderr message title description`)...)
	r.Pointers = append(r.Pointers, strings.Fields(`
		/lifecycle/failure/**/details
		/**/unavailable_reason
		/replay_input/materials/*/bytes_base64
		/model_route/**/reason
		/model_route/**/route_policy_reason
		/side_effects/network_egress/*/purpose
		/side_effects/tool_calls/*/metadata/**
		/deltas/*/reason`)...)

	return r
}
