package kind

import (
	"bytes"
	"strings"
)

// byMembers recognizes JSON by the members of the first object. An object with members of a receipt
// is a receipt, even if it is damaged. The exception is a draft, which has never been sealed or
// signed.
//
// The second result reports whether the object is a receipt, which a verifier must evaluate.
func byMembers(head []byte, whole bool) (f Found, receipt bool) {
	text := bytes.TrimLeft(head, " \t\r\n")
	s, ended, another := sketchOf(string(text))
	if !s.object {
		return Found{}, false
	}

	marked := s.starts("schema", "receipt-")
	if !marked {
		if f := foreignReceipt(s); f.Kind != Unknown {
			return f, false
		}
	}

	// An envelope also has signatures, but in a different form from a receipt's signatures.
	if f := firstOf(envelopes(), s).Found; f.Kind != Unknown && !s.has("receipt_id") && !s.has("chain") {
		return f, false
	}

	// An object with a hash or a signature is a receipt. A complete object that has neither may be
	// a draft.
	switch {
	case s.sealed(), s.has("signatures"):
		return Found{}, true
	case marked && s.has("receipt_id", "issuer") && whole && ended && !another:
		return Found{Draft, "a draft, which nobody has sealed", "ask its author to seal and sign it"}, false
	case marked, s.has("receipt_id"), s.has("chain"):
		return Found{}, true
	}

	if f := firstOf(beside(), s).Found; f.Kind != Unknown {
		return f, false
	}

	return firstOf(logs(squeezed(text)), s).Found, false
}

// squeezed returns the beginning of a string with all whitespace removed.
func squeezed(head []byte) string {
	return string(bytes.Join(bytes.Fields(head[:min(len(head), 1024)]), nil))
}

// envelopes lists the signs of envelopes in which receipts are signed again.
func envelopes() []sign {
	return []sign{
		plain(Attestation, "an attestation (a Sigstore bundle)", "verify it with the command: the receipt, if there is one, is inside", func(s sketch) bool {
			return s.starts("mediaType", "application/vnd.dev.sigstore.bundle") || s.has("dsseEnvelope")
		}),
		plain(statement, "a signed envelope (DSSE) without the bundle that names its key", "ask for the bundle that contains it", having("payloadType", "payload")),
		plain(statement, "an in-toto statement, which nobody signed", "ask for the bundle that contains its signature", func(s sketch) bool { return s.starts("_type", "https://in-toto.io/Statement/") }),
	}
}

func plain(k Kind, what, next string, is func(sketch) bool) sign {
	return sign{Found{k, what, next}, is, ""}
}

// having returns a function that reports whether a value has all named members.
func having(names ...string) func(sketch) bool {
	return func(s sketch) bool { return s.has(names...) }
}

// beside lists the signs of keys and of this toolkit's own files. Reports and manifests contain
// their format version.
func beside() []sign {
	return []sign{
		plain(Keys, "a set of keys", "pass it together with the receipts of their issuers", func(s sketch) bool { return s.at("keys").array }),

		// A JWK with d or priv is private, and a JWK with k is a symmetric key (RFC 7518, sections
		// 6.2.2 and 6.4, RFC 9964).
		{privateKey(), func(s sketch) bool { return s.has("kty", "d") || s.has("kty", "priv") || s.has("kty", "k") }, ""},
		plain(Keys, "a key", "pass it together with the receipts of its issuer", having("kty")),

		plain(Report, "a report of a verification", "verify the receipts that it covers; a report proves nothing by itself", func(s sketch) bool {
			return s.has("report_version") || s.has("reports", "summary")
		}),
		plain(Batch, "the manifest of a batch", "pass it together with the receipts of the batch", having("batch_version")),
		plain(Timestamp, "a timestamp", "pass it together with what it is of", func(s sketch) bool { return s.among("schema", "timestamp-2026-11") }),
		plain(Disclosures, "disclosed values", "pass them together with the receipt that they belong to", having("disclosures_version")),
		plain(Policy, "a policy", "pass it together with receipts", func(s sketch) bool { return s.at("witnesses").object }),
	}
}

const recordIt = "ask the party that ran the task to record it as a draft and seal the draft"

// logs lists the signs of the logs from which receipts are created. As in a recorder, the first
// line decides the kind. The argument start is the beginning of this line without whitespace. The
// signs of supported agents precede those of other logs.
func logs(start string) []sign {
	agent := func(name string, is func(sketch) bool) sign { return plain(Transcript, name, recordIt, is) }
	return []sign{
		plain(Bundle, "a session bundle", "create a draft from it, which records the shared data, and seal the draft", func(s sketch) bool { return s.among("_type", "harn_session_bundle") }),
		plain(Run, "a run record", "create a session bundle from it", func(s sketch) bool { return s.among("_type", "run_record") }),
		agent("a transcript of Claude Code", func(s sketch) bool {
			return s.has("sessionId", "type") || s.among("type", "summary") && s.has("leafUuid") || s.among("type", "file-history-snapshot")
		}),
		agent("a stream of Claude Code", func(s sketch) bool {
			return s.has("session_id", "type") && s.among("type", "system", "assistant", "user", "result")
		}),
		agent("a rollout of Codex", func(s sketch) bool { // rollouts of early versions have no payload
			return s.has("payload", "type") && s.among("type", "session_meta", "turn_context", "response_item", "event_msg") ||
				s.has("id", "timestamp", "instructions") || s.among("record_type", "state") || s.has("session", "items") && s.at("session").has("id")
		}),
		agent("a stream of Codex", func(s sketch) bool {
			return s.among("type", "thread.started", "turn.started", "item.started", "item.completed")
		}),
		agent("telemetry (OTLP)", func(s sketch) bool {
			return s.has("resourceSpans") || s.has("resourceLogs") || s.has("resourceMetrics")
		}),
		plain(Export, "an export of Jaeger", recordIt, func(sketch) bool { return strings.HasPrefix(start, `{"data":[{"traceID"`) }),
		plain(Export, "spans of an SDK, not of OTLP", recordIt, func(sketch) bool {
			return strings.HasPrefix(start, `{"spans":[{`) && strings.Contains(start, `"context":{`)
		}),
		plain(Frames, "a log of the frames of a bridge", recordIt, func(s sketch) bool {
			return s.among("jsonrpc", "2.0") || s.has("frame") || s.has("at", "event", "payload")
		}),
		plain(Events, "a log of events", recordIt, func(s sketch) bool { return s.has("event", "id", "resource", "sequence") || s.has("event", "payload") }),
	}
}
