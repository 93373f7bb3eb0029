package kind

import (
	"bytes"
	"strings"
)

// byMembers recognizes JSON by the members of its first object. An object with members of a
// receipt is a receipt, however damaged. The exception is a draft, which has never been sealed
// or signed.
//
// Receipt reports whether it is a receipt, which a verifier has to judge.
func byMembers(head []byte, whole bool) (f Found, receipt bool) {
	text := bytes.TrimLeft(head, " \t\r\n")
	s, ended, another := sketchOf(string(text))
	if !s.object {
		return Found{}, false
	}

	marked := s.starts("schema", "receipt-")
	if !marked {
		if f, ok := foreignReceipt(s); ok {
			return f, false
		}
	}

	// An envelope has signatures, too, in another form than those of a receipt.
	if f := envelope(s); f.Kind != Unknown && !s.has("receipt_id") && !s.has("chain") {
		return f, false
	}

	// A hash or a signature makes a receipt. Without them, a complete object may be a draft.
	switch {
	case s.sealed(), s.has("signatures"):
		return Found{}, true
	case marked && s.has("receipt_id", "issuer") && whole && ended && !another:
		return Found{Draft, "a draft, which nobody has sealed", "ask its author to seal and sign it"}, false
	case marked, s.has("receipt_id"), s.has("chain"):
		return Found{}, true
	}

	if f := beside(s); f.Kind != Unknown {
		return f, false
	}

	return logOf(s, squeezed(text)), false
}

// squeezed returns the beginning of a text without its whitespace.
func squeezed(head []byte) string {
	return string(bytes.Join(bytes.Fields(head[:min(len(head), 1024)]), nil))
}

// envelope recognizes a receipt that was signed once more, in an envelope.
func envelope(s sketch) Found {
	switch {
	case s.starts("mediaType", "application/vnd.dev.sigstore.bundle"), s.has("dsseEnvelope"):
		return Found{Attestation, "an attestation (a Sigstore bundle)", "verify it with the command: the receipt, if there is one, is inside"}
	case s.has("payloadType", "payload"):
		return Found{statement, "a signed envelope (DSSE) without the bundle that names its key", "ask for the bundle that contains it"}
	case s.starts("_type", "https://in-toto.io/Statement/"):
		return Found{statement, "an in-toto statement, which nobody signed", "ask for the bundle that contains its signature"}
	}
	return Found{}
}

// beside recognizes the files of this toolkit, and keys.
func beside(s sketch) Found {
	switch {
	case s.at("keys").array:
		return Found{Keys, "a set of keys", "pass it together with the receipts of their issuers"}

	// A JWK with d or priv is private, and one with k is a symmetric key (RFC 7518, sections 6.2.2
	// and 6.4, RFC 9964).
	case s.has("kty", "d"), s.has("kty", "priv"), s.has("kty", "k"):
		return privateKey()
	case s.has("kty"):
		return Found{Keys, "a key", "pass it together with the receipts of its issuer"}

	// Reports and manifests state the version of their format.
	case s.has("report_version"), s.has("reports", "summary"):
		return Found{Report, "a report of a verification", "verify the receipts that it covers; a report proves nothing by itself"}
	case s.has("batch_version"):
		return Found{Batch, "the manifest of a batch", "pass it together with the receipts of the batch"}
	case s.has("disclosures_version"):
		return Found{Disclosures, "disclosed values", "pass them together with the receipt that they belong to"}
	case s.at("witnesses").object:
		return Found{Policy, "a policy", "pass it together with receipts"}
	}

	return Found{}
}

const recordIt = "ask the party that ran the task to record it as a draft and seal the draft"

// logOf recognizes the logs from which receipts are created. As for a recorder, the first line
// decides.
func logOf(s sketch, start string) Found {
	agent := func(name string) Found { return Found{Transcript, name, recordIt} }

	// The signs of supported agents precede those of other logs.
	switch {
	case s.among("_type", "harn_session_bundle"):
		return Found{Bundle, "a session bundle", "create a draft from it, which records the shared data, and seal the draft"}
	case s.among("_type", "run_record"):
		return Found{Run, "a run record", "create a session bundle from it"}
	case s.has("sessionId", "type"), s.among("type", "summary") && s.has("leafUuid"), s.among("type", "file-history-snapshot"):
		return agent("a transcript of Claude Code")
	case s.has("session_id", "type") && s.among("type", "system", "assistant", "user", "result"):
		return agent("a stream of Claude Code")
	case s.has("payload", "type") && s.among("type", "session_meta", "turn_context", "response_item", "event_msg"):
		return agent("a rollout of Codex")
	// Rollouts of early versions have no payload.
	case s.has("id", "timestamp", "instructions"), s.among("record_type", "state"), s.has("session", "items") && s.at("session").has("id"):
		return agent("a rollout of Codex")
	case s.among("type", "thread.started", "turn.started", "item.started", "item.completed"):
		return agent("a stream of Codex")
	case s.has("resourceSpans"), s.has("resourceLogs"), s.has("resourceMetrics"):
		return agent("telemetry (OTLP)")
	case strings.HasPrefix(start, `{"data":[{"traceID"`):
		return Found{Export, "an export of Jaeger", recordIt}
	case strings.HasPrefix(start, `{"spans":[{`) && strings.Contains(start, `"context":{`):
		return Found{Export, "spans of an SDK, not of OTLP", recordIt}
	case s.among("jsonrpc", "2.0"), s.has("frame"), s.has("at", "event", "payload"):
		return Found{Frames, "a log of the frames of a bridge", recordIt}
	case s.has("event", "id", "resource", "sequence"), s.has("event", "payload"):
		return Found{Events, "a log of events", recordIt}
	}

	return Found{}
}
