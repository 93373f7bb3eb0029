package kind

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// An outline is the first object of a file as far as it is seen: the names of its
// members, and those that are texts. Nothing is judged by it, so the reading need
// not be strict.
type outline struct {
	texts   map[string]string // "" for what is no text
	inner   map[string]map[string]bool
	lists   map[string]bool // members that are arrays
	start   string          // of the file, without white space
	ended   bool            // its last brace was seen
	another bool            // and a second object
}

// squeezed is the start of a text without its white space.
func squeezed(head []byte) string {
	return string(bytes.Join(bytes.Fields(head[:min(len(head), 1024)]), nil))
}

func (o *outline) has(names ...string) bool {
	for _, name := range names {
		if _, ok := o.texts[name]; !ok {
			return false
		}
	}
	return true
}

// sealed reports whether the hash of a receipt was seen: that decides, whatever follows.
func (o *outline) sealed() bool { return o.inner["chain"]["receipt_hash"] }

// read follows the first object, and the names of what is in its members.
func read(head []byte) (*outline, bool) {
	o := &outline{texts: map[string]string{}, inner: map[string]map[string]bool{}, lists: map[string]bool{}, start: squeezed(head)}
	d := json.NewDecoder(bytes.NewReader(head))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return o, true
		}
		o.texts[name.(string)] = "" // More has shown that it is a name
		if !o.value(d, name.(string)) || o.sealed() {
			return o, true
		}
	}
	if _, err := d.Token(); err != nil {
		return o, true
	}

	o.ended = true
	t, err := d.Token()
	o.another = err == nil && t == json.Delim('{')
	return o, true
}

// value reads the value of a member; false when it is not seen to its end.
func (o *outline) value(d *json.Decoder, name string) bool {
	t, err := d.Token()
	if err != nil {
		return false
	}
	switch v := t.(type) {
	case string:
		o.texts[name] = v
	case json.Delim:
		if v == '{' {
			o.inner[name] = map[string]bool{}
		} else {
			o.lists[name] = true
		}
		return skip(d, func(member string) { addTo(o.inner[name], member) })
	}
	return true
}

func addTo(names map[string]bool, name string) {
	if names != nil {
		names[name] = true
	}
}

// skip reads to the end of the value that has begun, and tells the names of its
// members.
func skip(d *json.Decoder, member func(name string)) bool {
	for depth, isName := 1, true; depth > 0; {
		t, err := d.Token()
		if err != nil {
			return false
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		default:
			if name, ok := t.(string); ok && depth == 1 && isName {
				member(name)
				isName = false
				continue
			}
		}
		isName = depth == 1
	}
	return true
}

// byMembers tells JSON by the members of its first object. What has members of a
// receipt is one, however damaged, but for a draft, which is only what was never
// sealed nor signed.
//
// Receipt reports what is one, which is for who judges it.
func byMembers(head []byte, whole bool) (f Found, receipt bool) {
	text := bytes.TrimLeft(head, " \t\r\n")
	o, ok := read(text)
	if !ok {
		return Found{}, false
	}

	// An envelope has signatures, too, of another form than a receipt's.
	if f := o.envelope(); f.Kind != Unknown && !o.has("receipt_id") && !o.has("chain") {
		return f, false
	}

	marked := strings.HasPrefix(o.texts["schema"], "receipt-")
	switch {
	case o.sealed(), o.has("signatures"):
		return Found{}, true
	case marked && o.has("receipt_id", "issuer") && whole && o.ended && !o.another:
		return Found{Draft, "a draft, which nobody has sealed", "whoever made it seals and signs it"}, false
	case marked, o.has("receipt_id"), o.has("chain"):
		return Found{}, true
	}

	if f := o.beside(); f.Kind != Unknown {
		return f, false
	}
	return o.log(), false
}

// envelope tells what is put around a receipt to sign it once more.
func (o *outline) envelope() Found {
	switch {
	case strings.HasPrefix(o.texts["mediaType"], "application/vnd.dev.sigstore.bundle"), o.has("dsseEnvelope"):
		return Found{Attestation, "an attestation (a Sigstore bundle)", "verify it with the command: the receipt, if there is one, is inside"}
	case o.has("payloadType", "payload"):
		return Found{statement, "a signed envelope (DSSE) without the bundle that names its key", "ask for the bundle that it is of"}
	case strings.HasPrefix(o.texts["_type"], "https://in-toto.io/Statement/"):
		return Found{statement, "an in-toto statement, which nobody signed", "ask for the bundle in which it is signed"}
	}
	return Found{}
}

// beside tells the files of this toolkit, and keys.
func (o *outline) beside() Found {
	switch {
	case o.lists["keys"]:
		return Found{Keys, "a set of keys", "give it together with the receipts of their issuers"}
	case o.has("kty", "d"), o.has("kty", "k"):
		return privateKey()
	case o.has("kty"):
		return Found{Keys, "a key", "give it together with the receipts of its issuer"}
	case o.has("report_version"), o.has("reports", "summary"):
		return Found{Report, "a report of a verification", "verify the receipts that it is about; a report proves nothing by itself"}
	case o.has("batch_version"):
		return Found{Batch, "the manifest of a batch", "give it together with the receipts of the batch"}
	case o.has("disclosures_version"):
		return Found{Disclosures, "disclosed values", "give them together with the receipt that they are of"}
	case o.inner["witnesses"] != nil:
		return Found{Policy, "a policy", "give it together with receipts"}
	}
	return Found{}
}

const recordIt = "whoever ran the task records it: a draft is made of it, and then sealed"

// log tells what receipts are made of. The first line decides, as for a recorder.
func (o *outline) log() Found {
	agent := func(name string) Found { return Found{Transcript, name, recordIt} }
	switch {
	case o.texts["_type"] == "harn_session_bundle":
		return Found{Bundle, "a session bundle", "make a draft of it, which says what left, and seal that"}
	case o.texts["_type"] == "run_record":
		return Found{Run, "a run record", "make a session bundle of it"}
	case o.has("sessionId", "type"), o.texts["type"] == "summary" && o.has("leafUuid"), o.texts["type"] == "file-history-snapshot":
		return agent("a transcript of Claude Code")
	case o.has("session_id", "type") && slices.Contains([]string{"system", "assistant", "user", "result"}, o.texts["type"]):
		return agent("a stream of Claude Code")
	case o.has("payload", "type") && slices.Contains([]string{"session_meta", "turn_context", "response_item", "event_msg"}, o.texts["type"]):
		return agent("a rollout of Codex")
	case o.has("id", "timestamp", "instructions"), o.texts["record_type"] == "state", o.has("session", "items") && o.inner["session"]["id"]: // of early versions
		return agent("a rollout of Codex")
	case slices.Contains([]string{"thread.started", "turn.started", "item.started", "item.completed"}, o.texts["type"]):
		return agent("a stream of Codex")
	case o.has("resourceSpans"), o.has("resourceLogs"), o.has("resourceMetrics"):
		return agent("telemetry (OTLP)")
	case o.has("trace", "observations"):
		return Found{Export, "an export of Langfuse", recordIt}
	case strings.HasPrefix(o.start, `{"data":[{"traceID"`):
		return Found{Export, "an export of Jaeger", recordIt}
	case strings.HasPrefix(o.start, `{"spans":[{`) && strings.Contains(o.start, `"context":{`):
		return Found{Export, "spans of an SDK, not of OTLP", recordIt}
	case o.texts["jsonrpc"] == "2.0", o.has("frame"), o.has("at", "event", "payload"):
		return Found{Frames, "a log of the frames of a bridge", recordIt}
	case o.has("event", "id", "resource", "sequence"), o.has("event", "payload"):
		return Found{Events, "a log of events", recordIt}
	}
	return Found{}
}
