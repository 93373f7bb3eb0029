package source_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// workspaceName matches the suffix that distinguishes workspaces with the same name.
var workspaceName = regexp.MustCompile(`\.[0-9a-f]{8}$`)

// A counter reads a log with a different parser than the sources use, and without their rules. It
// collects all strings and all times, and adds all numbers, which is an upper bound for tokens and
// costs. No draft may claim more than the counter finds.
type counter struct {
	texts   map[string]bool
	joined  strings.Builder // all strings, converted to lowercase
	digests map[string]bool // digests of all strings, and of all strings that result from applying patches
	times   map[int64]bool  // times in Unix milliseconds, as in receipts
	tokens  float64
	costs   float64
	objects int // number of objects, each of which may be a message, a call, or a result
}

func count(log []byte) *counter {
	c := &counter{texts: map[string]bool{}, digests: map[string]bool{}, times: map[int64]bool{}}
	for line := range bytes.SplitSeq(bytes.ReplaceAll(log, []byte("\ufeff"), nil), []byte("\n")) {
		c.value(line)
	}

	// Objects are also read separately, wherever they start.
	for n, rest := 0, log; n < 300; n++ {
		at := bytes.IndexByte(rest, '{')
		if at < 0 {
			break
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(rest[at:]))
		if d.UseNumber(); d.Decode(&v) != nil {
			rest = rest[at+1:]
			continue
		}
		c.add("", v)
		rest = rest[at+int(d.InputOffset()):]
	}
	return c
}

func (c *counter) value(text []byte) {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	if d.UseNumber(); d.Decode(&v) == nil {
		c.add("", v)
	}
}

func (c *counter) add(name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		c.objects++
		c.patched(v)
		for k, x := range v {
			c.text(k)
			c.add(k, x)
		}
	case []any:
		for _, x := range v {
			c.add(name, x)
		}
	case string:
		c.text(v)
		c.number(name, v)
		if len(v) > 1 && (v[0] == '{' || v[0] == '[') { // arguments may be JSON inside a string
			c.value([]byte(v))
		}
	case json.Number:
		c.number(name, v.String())
	}
}

func (c *counter) number(name, text string) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return
	}
	c.tokens += f // names do not matter, because the sum of all numbers is an upper bound
	c.costs += f
	if strings.Contains(strings.ToLower(name), "time") && f < math.MaxInt64 {
		c.times[int64(f)/1e6] = true
	}
	if f > 1e12 && f < 1e13 { // milliseconds since 1970
		c.times[int64(f)] = true
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strings.Contains(strings.ToLower(name), "time") {
		c.times[n/1e6] = true
	}
}

func (c *counter) text(s string) {
	if c.texts[s] {
		return
	}
	c.texts[s] = true
	c.joined.WriteString(strings.ToLower(s))
	c.joined.WriteByte(0)
	c.digest(s)
	if at, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s)); err == nil {
		c.times[at.UnixMilli()] = true
	}
	c.added(s)
}

func (c *counter) digest(s string) {
	sum := sha256.Sum256([]byte(s))
	c.digests["sha256:"+hex.EncodeToString(sum[:])] = true
}

// patched applies the patch in an object and records the resulting content of the file. The sources
// replay edits instead of applying patches.
func (c *counter) patched(o map[string]any) {
	original, ok := o["originalFile"].(string)
	if !ok {
		original, ok = o["originalFileContents"].(string)
	}
	hunks, isList := o["structuredPatch"].([]any)
	if !ok || !isList {
		return
	}
	for _, tabs := range []bool{false, true} {
		if text, ok := apply(original, hunks, tabs); ok {
			c.digest(text)
		}
	}
}

// apply applies a patch to a string.
func apply(text string, hunks []any, tabs bool) (string, bool) {
	body, end := strings.CutSuffix(text, "\n")
	from := strings.Split(body, "\n")
	before := byte(' ')
	var to []string
	at := 0
	for _, h := range hunks {
		hunk, _ := h.(map[string]any)
		start, ok := hunk["oldStart"].(json.Number)
		lines, isList := hunk["lines"].([]any)
		n, err := strconv.Atoi(string(start))
		if n = max(n-1, 0); !ok || !isList || err != nil || n < at || n > len(from) {
			return "", false
		}
		to, at = append(to, from[at:n]...), n
		for _, l := range lines {
			line, _ := l.(string)
			switch {
			case line == "":
				return "", false
			case line[0] == '+' && tabs:
				rest := strings.TrimLeft(line[1:], " ")
				to = append(to, strings.Repeat("\t", (len(line)-1-len(rest))/2)+rest)
			case line[0] == '+':
				to = append(to, line[1:])
			case line[0] == '\\': // the preceding line has no line feed, but the corresponding line of the other text may have one
				end = before == '-'
			case at >= len(from):
				return "", false
			case line[0] == '-':
				at++
			default:
				to = append(to, from[at])
				at++
			}
			before = line[0]
		}
	}
	patched := strings.Join(append(to, from[at:]...), "\n")
	if end && patched != "" {
		patched += "\n"
	}
	return patched, true
}

// added records the files that a patch in the format of Codex adds.
func (c *counter) added(s string) {
	for i := strings.Index(s, "*** Add File: "); i >= 0; {
		var b strings.Builder
		_, rest, _ := strings.Cut(s[i:], "\n")
		for line := range strings.SplitSeq(rest, "\n") {
			text, ok := strings.CutPrefix(line, "+")
			if !ok {
				break
			}
			b.WriteString(text + "\n")
		}
		c.digest(b.String())
		next := strings.Index(s[i+1:], "*** Add File: ")
		if next < 0 {
			break
		}
		i += 1 + next
	}
}

func (c *counter) has(part string) bool {
	return strings.Contains(c.joined.String(), strings.ToLower(part))
}

// endings lists the words for each final state. A log that records the state contains at least one
// of them.
var endings = map[string][]string{
	"SUCCEEDED": {"end_turn", "turn_duration", "stop_hook_summary", "success", "task_complete", "turn_complete", "turn.completed", "status_code_ok", "code", "ok", "assistant.turn_end", "stop"},
	"FAILED":    {"result", "turn.failed", "code", "error"},
	"CANCELED":  {"[request interrupted by user", "turn_aborted", "abort"},
}

// claimsNothing fails if a draft claims more than a counter found in the log.
func claimsNothing(t *testing.T, log []byte, d *receipt.Draft) {
	t.Helper()
	c, r := count(log), read(t, d)
	said := func(at, what, text string) {
		t.Helper()
		if !c.texts[text] && !r.untold[at] {
			t.Errorf("no line states the %s %q", what, text)
		}
	}

	said("/identifiers/session_id", "session", d.Identifiers.SessionID)
	if !r.untold["/model_route/chosen_model"] {
		said("/model_route/chosen_model/model", "model", d.ModelRoute.ChosenModel.Model)
	}
	if w := workspaceName.ReplaceAllString(d.Identifiers.WorkspaceRef, ""); !c.has(w) && !r.untold["/identifiers/workspace_ref"] {
		t.Errorf("no line states the workspace %q", w)
	}
	for i, p := range d.Cost.ProviderBreakdown {
		if p.Model != "" {
			said("", "model", p.Model)
		}
		said(fmt.Sprintf("/cost/provider_breakdown/%d/provider", i), "provider", p.Provider)
	}
	for i, call := range d.SideEffects.ToolCalls {
		if id := call.CallID[strings.IndexByte(call.CallID, '/')+1:]; !c.texts[call.CallID] && !c.texts[id] && !c.saysSpan(call.CallID) {
			t.Errorf("no line states the call %q", call.CallID)
		}
		if !c.has(call.Tool) && !c.has(strings.ReplaceAll(call.Tool, "_", "")) && !r.untold[fmt.Sprintf("/side_effects/tool_calls/%d/tool", i)] {
			t.Errorf("no line states the tool %q", call.Tool)
		}
	}
	if len(d.SideEffects.ToolCalls) > c.objects {
		t.Errorf("%d calls in %d objects", len(d.SideEffects.ToolCalls), c.objects)
	}
	c.effects(t, r)
	c.numbers(t, r)

	for _, a := range d.Approvals {
		words := []string{"user", "permission.completed"}
		if a.Decision == "approved" {
			words = []string{"tool_decision", "permission.completed"}
		}
		if !slices.ContainsFunc(words, c.has) {
			t.Errorf("no line states the decision %+v", a)
		}
	}
	state := d.Lifecycle.FinalState
	if !r.untold["/lifecycle/final_state"] && !slices.ContainsFunc(endings[state], c.has) {
		t.Errorf("no line states that it ended as %s", state)
	}
}

// saysSpan reports whether the log contains the ID of a span, which is also the ID of the call. In
// a receipt, the ID consists of hexadecimal digits, regardless of its form in the log.
func (c *counter) saysSpan(id string) bool {
	id, ok := strings.CutPrefix(id, "span:")
	if !ok {
		return false
	}
	if bytes, err := hex.DecodeString(id); err == nil {
		for _, as := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			if c.texts[as.EncodeToString(bytes)] {
				return true
			}
		}
	}
	return c.has(id)
}

func (c *counter) effects(t *testing.T, r told) {
	t.Helper()
	for _, e := range r.SideEffects.NetworkEgress {
		if !c.has(e.Destination) && e.Destination != "unknown" {
			t.Errorf("no line states the host %q", e.Destination)
		}
	}
	for _, w := range r.SideEffects.FSWrites {
		if name := path.Base(w.Path); !strings.HasPrefix(w.Path, "(outside ") && !c.has(name) {
			t.Errorf("no line states the path %q", w.Path)
		}
		for _, sum := range []receipt.OptionalDigest{w.BeforeSHA256, w.AfterSHA256} {
			if !sum.Digest.IsZero() && !c.digests[sum.String()] {
				t.Errorf("no line states the content of %q: %s", w.Path, sum)
			}
		}
	}
	for _, h := range r.SideEffects.A2AHandoffs {
		if !c.texts[h.TaskID] && !c.has(h.TargetAgent) {
			t.Errorf("no line states the handoff %+v", h)
		}
	}
}

func (c *counter) numbers(t *testing.T, r told) {
	t.Helper()
	for _, n := range []*int64{r.AutonomyBudget.Consumed.InputTokens, r.AutonomyBudget.Consumed.OutputTokens} {
		if n != nil && float64(*n) > c.tokens {
			t.Errorf("%d tokens, and all numbers of the log are %v", *n, c.tokens)
		}
	}
	if r.Cost.Total > c.costs*(1+1e-9) {
		t.Errorf("cost %v, and all numbers of the log are %v", r.Cost.Total, c.costs)
	}
	for at, got := range map[string]receipt.Time{"/lifecycle/started_at": r.Lifecycle.StartedAt, "/lifecycle/completed_at": r.Lifecycle.CompletedAt} {
		if !c.times[got.UnixMilli()] && !r.untold[at] {
			t.Errorf("no line states the time %s", got)
		}
	}
}
