package kind

import (
	"encoding/base64"
	"slices"
	"strings"
)

// foreign describes a third-party format of receipts or other signed evidence. Programs can rely on
// the name; program is the tool that verifies files in the format.
func foreign(name Kind, what, program string, is func(sketch) bool) sign {
	return sign{Found{name, what, "verify it with " + program}, is, ""}
}

// foreignFormats lists the formats in the order in which their signs are tried. More specific signs
// precede the signs of formats with which they share members.
func foreignFormats() []sign {
	return slices.Concat([]sign{
		foreign("a2a-card", "a signed agent card (A2A)", "an SDK of A2A", func(s sketch) bool {
			return s.has("name", "skills") && s.at("signatures").of().has("protected", "signature")
		}),
	}, statementFormats(), upstreamFormats(), receiptFormats())
}

// statementFormats lists in-toto predicates. The statement may be in a signed envelope.
func statementFormats() []sign {
	const audit = "/predicate/v1/agent-audit-record"
	is := func(match func(predicate string) bool) func(sketch) bool {
		return func(s sketch) bool {
			return s.starts("_type", "https://in-toto.io/Statement/") && match(s.at("predicateType").text)
		}
	}
	exactly := func(list ...string) func(sketch) bool {
		return is(func(p string) bool { return slices.Contains(list, p) })
	}

	action := exactly("https://in-toto.io/attestation/ai-agent-action/v0.1")
	return []sign{
		foreign("gilda-audit-record", "an agent audit record (in-toto)", "agent-evidence-vectors", is(func(p string) bool { return strings.HasSuffix(p, audit) })),
		foreign("ai-agent-action", "an AI agent action (in-toto)", "mcp-audit-gateway", func(s sketch) bool { return action(s) || isActionRecord(s) }),
		foreign("slsa-vsa", "a verification summary (SLSA)", "slsa-verifier", exactly("https://slsa.dev/verification_summary/v1")),
		foreign("in-toto-svr", "a simple verification result (in-toto)", "a verifier of in-toto attestations", exactly("https://in-toto.io/attestation/svr/v0.1", "https://in-toto.io/attestation/svr/v0.2")),
		foreign("pipelock-fleet", "a fleet report of Pipelock", "pipelock", is(func(p string) bool { return strings.Contains(p, "fleet-receipt/v1") })),
	}
}

func isActionRecord(s sketch) bool {
	return s.among("type", "tool_call", "checkpoint", "chain_break") && s.has("timestamp") &&
		(s.has("attestation") || s.has("previousHash") || s.has("priorHead"))
}

// upstreamFormats lists the other formats of Harn, whose protocol defines the receipts of this
// toolkit.
func upstreamFormats() []sign {
	const harn = "harn verify"
	is := func(prefix string) func(sketch) bool {
		return func(s sketch) bool { return s.starts("schema", prefix) }
	}
	exactly := func(name string) func(sketch) bool {
		return func(s sketch) bool { return s.among("schema", name) }
	}

	return []sign{
		foreign("harn-receipt", "a receipt of a Harn persona (harn.receipt.v1)", harn, exactly("harn.receipt.v1")),
		foreign("harn-provenance", "a provenance receipt of Harn", harn, exactly("harn-provenance-receipt-v1")),
		foreign("harn-skill-gate", "a skill gate of Harn", harn, func(s sketch) bool {
			return s.starts("_type", "harn.skill_gate.") || s.among("schema", "harn.skill_induction.replay_gate.v1")
		}),
		foreign("harn-evaluation", "an evaluation receipt of Harn", harn, exactly("harn.evaluation.receipt.v1")),
		foreign("opentrustgraph", "a record of OpenTrustGraph", "the verifier of OpenTrustGraph", func(s sketch) bool {
			return is("opentrustgraph/")(s) || is("opentrustgraph-chain/")(s)
		}),
	}
}

// receiptFormats lists formats of third-party receipts.
func receiptFormats() []sign {
	const acta, pipelock, emilia = "@veritasacta/verify", "pipelock", "a verifier of EMILIA"
	return []sign{
		foreign("asqav", "a receipt of asqav", "asqav", isAsqav),
		foreign("acta-envelope", "a receipt of Veritas Acta", acta, func(s sketch) bool {
			return len(s.members) == 2 && s.at("payload").has("type") && s.at("signature").has("alg", "kid", "sig")
		}),
		foreign("acta-flat", "a receipt of Veritas Acta (flat)", acta, func(s sketch) bool {
			return s.has("type", "alg", "kid") && s.at("signature").string
		}),
		foreign("pipelock-v1", "a receipt of Pipelock", pipelock, func(s sketch) bool {
			return s.has("action_record", "signer_key") || s.among("type", "action_receipt") && s.at("detail").has("action_record")
		}),
		foreign("pipelock-v2", "an evidence receipt of Pipelock", pipelock, func(s sketch) bool { return s.among("record_type", "evidence_receipt_v2") }),
		foreign("obsigna", "an agent receipt (obsigna)", "an SDK of obsigna", func(s sketch) bool {
			return slices.ContainsFunc(s.at("type").first, func(t sketch) bool { return t.text == "AgentReceipt" || t.text == "AIActionReceipt" })
		}),
		foreign("trace-action-receipt", "an action receipt of TRACE", "trace-spec", func(s sketch) bool {
			return s.among("evidence_type", "application/vnd.agentrust.action-receipt+json") || s.among("profile", "trace.action_receipt.conformance.v0")
		}),
		foreign("emilia-receipt", "a receipt of EMILIA", emilia, func(s sketch) bool { return s.among("@version", "EP-RECEIPT-v1") }),
		foreign("emilia-other", "a document of EMILIA", emilia, func(s sketch) bool { return s.starts("@version", "EP-") }),
		foreign("emilia-trust-receipt", "a trust receipt of EMILIA", emilia, func(s sketch) bool {
			return s.has("receipt_id", "action_hash", "log_proof") && s.at("contexts").array && s.at("signoffs").array
		}),
		foreign("ael-artifact", "the manifest of an AEL artifact", "aelcheck", func(s sketch) bool { return s.has("ael_format", "recorders") || s.has("ael_directory") }),
	}
}

// isAsqav recognizes receipts of asqav by their issuer, their key, or the name of their format.
func isAsqav(s sketch) bool {
	for _, at := range []sketch{s.at("issuer"), s.at("issuer_id"), s.at("kid"), s.at("payload", "issuer_id"), s.at("signature", "kid")} {
		if strings.Contains(at.text, "asqav") {
			return true
		}
	}
	return s.among("format", "asqav-native", "acta-like", "aerf")
}

// foreignReceipt recognizes a receipt in another format by its members.
func foreignReceipt(s sketch) Found {
	envelope := s
	if s.has("dsseEnvelope") {
		envelope = s.at("dsseEnvelope") // in a bundle
	}
	if envelope.has("payload", "payloadType") && envelope.at("signatures").array {
		s = enclosed(envelope.at("payload").text)
	}
	return firstOf(foreignFormats(), s).Found
}

// enclosed returns a sketch of the payload of a DSSE envelope, up to the first byte that cannot be
// decoded. Both base64 alphabets are permitted, with and without padding.
func enclosed(payload string) sketch {
	payload = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(payload), "=")
	text, _ := base64.RawStdEncoding.DecodeString(payload)
	s, _, _ := sketchOf(string(text))
	return s
}

// foreignBytes recognizes receipts that are not JSON: tagged COSE_Sign1 messages (RFC 9052 section
// 4.2), and lines of an AEL recorder, which have one part fewer than a JWS.
func foreignBytes(head []byte) (Found, bool) {
	if strings.HasPrefix(string(head), "\xd2\x84") {
		return Found{coseSign1, "a COSE_Sign1 message, such as a statement or a receipt of SCITT", "verify it with a verifier of SCITT or COSE"}, true
	}

	line, _, _ := strings.Cut(strings.TrimLeft(string(head), "\r\n"), "\n")
	payload, signature, found := strings.Cut(strings.TrimSuffix(line, "\r"), ".")
	if !found || !isBase64URL(payload) || !isBase64URL(signature) {
		return Found{}, false
	}
	if s := enclosed(payload); s.has("v", "type") && (s.has("recorder") || s.has("flow")) {
		return Found{AELLine, "a line of an AEL recorder", "verify it with aelcheck"}, true
	}

	return Found{}, false
}

func isBase64URL(text string) bool {
	return text != "" && strings.Trim(text, "-_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
}
