package replay_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/replay"
)

// A change edits one member of a receipt.
type change struct {
	at   string // JSON Pointer
	edit func(d members)
}

// changes returns edits for every member. The edits set other values, remove the value, or add
// members and elements.
func changes(d members) (list []change) {
	walk(d, "", &list)
	for at, value := range map[string]any{
		"/identifiers/tenant_id": "another", "/identifiers/persona_ref": "another", "/identifiers/branch_id": "another", "/identifiers/trace_id": "another",
		"/trust/policy_ref": "another", "/autonomy_budget/limit": members{"usd": 9}, "/lifecycle/failure": members{"code": "x"},
		"/replay_input/unavailable_reason": "another", "/model_route/alternatives_considered": []any{members{"provider": "p", "model": "another"}},
		"/issuer/name": "another", "/issuer/version": "another", "/metadata/another": 1, "/metadata/overrides_unused": []any{"llm:another:1"}, "/metadata/checkpoint_event_id": "another",
		"/metadata/checkpoint_id": "another", "/chain/merkle_root": "sha256:" + strings.Repeat("a", 64),
	} {
		list = append(list, change{at, func(d members) { put(d, at, value) }})
	}
	for at, element := range map[string]any{
		"/approvals":                    members{"action": "a", "decision": "approved", "actor": "x", "decided_at": "2026-01-01T00:00:01Z"},
		"/side_effects/fs_writes":       members{"path": "a", "operation": "create"},
		"/side_effects/network_egress":  members{"destination": "https://a.example", "purpose": "p"},
		"/side_effects/tool_calls":      members{"tool": "t", "call_id": "c", "status": "succeeded"},
		"/side_effects/a2a_handoffs":    members{"target_agent": "a", "task_id": "t", "status": "completed"},
		"/cost/provider_breakdown":      members{"provider": "p", "amount": 0},
		"/final_artifacts":              members{"artifact_id": "another", "kind": "file"},
		"/deltas":                       members{"operation": "add", "path": "/x", "override_key": "time:zzz"},
		"/replay_input/materials":       members{"kind": "artifact", "id": "another", "sha256": "sha256:" + strings.Repeat("a", 64)},
		"/redactions":                   members{"field": "/cost", "reason": "another"},
		"/replay_input/materials/0/uri": nil,
		"/replay_input/materials/1/uri": nil,
	} {
		if element == nil {
			list = append(list, change{at, func(d members) { put(d, at, "another") }})
			continue
		}
		list = append(list, change{at, func(d members) {
			elements, _ := get(d, at).([]any)
			put(d, at, append(slices.Clone(elements), element))
		}})
	}
	slices.SortStableFunc(list, func(a, b change) int { return strings.Compare(a.at, b.at) })
	return list
}

// walk adds the edits for the values within a value.
func walk(v any, at string, list *[]change) {
	if at != "" {
		add := func(value any) {
			*list = append(*list, change{at, func(d members) { put(d, at, value) }})
		}
		*list = append(*list, change{at, func(d members) { remove(d, at) }})
		switch v := v.(type) {
		case string:
			for _, other := range []string{v + "x", "sha256:" + strings.Repeat("a", 64), "2026-01-01T00:00:00.125Z", "shadow", "act_with_approval", "FAILED", "CANCELED", "replace", "add", "remove", "best_effort", "host_fact", "unavailable", "event", "EUR", "harness", "agent"} {
				if other != v {
					add(other)
				}
			}
		case float64:
			add(v + 1)
			add(v + 0.5)
		case nil:
			add("sha256:" + strings.Repeat("a", 64))
			add(members{})
		}
	}
	switch v := v.(type) {
	case members:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(v[name], string(canon.AppendToken([]byte(at), name)), list)
		}
	case []any:
		for i := range v {
			walk(v[i], fmt.Sprint(at, "/", i), list)
		}
		if len(v) > 1 {
			*list = append(*list, change{at, func(d members) {
				swapped := slices.Clone(get(d, at).([]any))
				slices.Reverse(swapped)
				put(d, at, swapped)
			}})
		}
	}
}

func tokens(at string) []string {
	list := strings.Split(at, "/")[1:]
	for i, token := range list {
		list[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return list
}

// get returns the value at a place, or nil if there is no value.
func get(d members, at string) (v any) {
	v = d
	for _, token := range tokens(at) {
		switch n := v.(type) {
		case members:
			v = n[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(n) {
				return nil
			}
			v = n[i]
		default:
			return nil
		}
	}
	return v
}

func put(d members, at string, value any) {
	cut := strings.LastIndexByte(at, '/')
	last := tokens(at)[strings.Count(at, "/")-1]
	switch n := get(d, at[:cut]).(type) {
	case members:
		n[last] = value
	case []any:
		if i, err := strconv.Atoi(last); err == nil && i < len(n) {
			n[i] = value
		}
	}
}

func remove(d members, at string) {
	cut := strings.LastIndexByte(at, '/')
	last := tokens(at)[strings.Count(at, "/")-1]
	switch n := get(d, at[:cut]).(type) {
	case members:
		delete(n, last)
	case []any:
		if i, err := strconv.Atoi(last); err == nil && i < len(n) {
			put(d, at[:cut], slices.Delete(slices.Clone(n), i, i+1))
		}
	}
}

// issued applies edits to a draft, and seals and signs the receipt. It returns false if the result
// is not a receipt.
func issued(t *testing.T, signer *keys.Signer, draft []byte, edits ...change) (*canon.Document, bool) {
	t.Helper()
	var d members
	if err := json.Unmarshal(draft, &d); err != nil {
		t.Fatal(err)
	}
	for _, c := range edits {
		c.edit(d)
	}
	delete(d, "chain")
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	s, err := receipt.SealDocument(document(t, text), chain.Head{})
	if err != nil {
		return nil, false
	}
	if signer != nil {
		if s, err = s.Sign(t.Context(), signer); err != nil {
			t.Fatal(err)
		}
	}
	return s.Document(), true
}

// noted reports whether a report lists a location, or a location that contains it, as not checked.
func noted(rep *receipt.Report, at string) bool {
	return slices.ContainsFunc(rep.NotChecked, func(n receipt.Note) bool {
		return n.Pointer != "" && (at == n.Pointer || strings.HasPrefix(at, n.Pointer+"/"))
	})
}

// notedIn is like noted, but it also accepts a location within the given one. It is used if an
// element or a member was added or removed.
func notedIn(rep *receipt.Report, at string) bool {
	return noted(rep, at) || slices.ContainsFunc(rep.NotChecked, func(n receipt.Note) bool { return strings.HasPrefix(n.Pointer, at+"/") })
}

// TestEachMember verifies that, if one member of a signed replay receipt is changed, the receipt is
// refuted or the report lists the member as not checked.
func TestEachMember(t *testing.T) {
	private, err := keys.Generate(rand.Reader, "ed25519", "key_1")
	if err != nil {
		t.Fatal(err)
	}
	set, err := keys.NewSet(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	v, err := receipt.NewVerifier(set, receipt.Policy{Issuer: "harness_1"})
	if err != nil {
		t.Fatal(err)
	}
	signer := keys.NewSigner(private, func() time.Time { return time.Unix(1<<31, 0) })

	for name, request := range map[string]string{
		"exact": ``, "overrides": overrides, "a checkpoint": `{"mode":"from_checkpoint","checkpoint_id":"cp_1"}`,
	} {
		p := plan(t, readLog(t, garden().bytes()), request)
		told := recorded(t, events(t, p, replay.Run{TaskID: "task_2", LogURI: "log://1"}))
		text, err := json.Marshal(told)
		if err != nil {
			t.Fatal(err)
		}
		var d members
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		judge := func(doc *canon.Document) *receipt.Report {
			rep := new(receipt.Report)
			v.Verify(doc, rep)
			if err := p.Check(v, rep, doc, nil); err != nil {
				t.Fatal(err)
			}
			return rep
		}
		honest, _ := issued(t, signer, text)
		if rep := judge(honest); rep.Verdict != receipt.Verified {
			t.Fatalf("%s: %s: %q", name, rep.Verdict, findings(rep))
		}

		receipts, refuted := 0, 0
		step := testsize.Of(5, 1)
		for i, c := range changes(d) {
			if i%step != 0 {
				continue
			}
			doc, ok := issued(t, signer, text, c)
			if !ok || bytes.Equal(replay.Bytes(doc, replay.Strict), replay.Bytes(honest, replay.Strict)) {
				continue
			}
			receipts++
			rep := judge(doc)
			switch {
			case rep.Verdict == receipt.Refuted:
				refuted++
			case !notedIn(rep, c.at):
				t.Errorf("%s: %s was changed: %s, not checked: %v", name, c.at, rep.Verdict, rep.NotChecked)
			}
		}
		if t.Logf("%s: %d receipts, %d refuted", name, receipts, refuted); receipts < 400/step || refuted < receipts/2 {
			t.Errorf("%s: %d receipts, %d refuted", name, receipts, refuted)
		}
	}
}

// TestCheckIsCompare verifies that a check finds the same differences as a comparison with the
// draft from the log and the request. Equal members must be verified. Each difference must be
// refuted, be part of a finding, or be listed as not checked.
func TestCheckIsCompare(t *testing.T) {
	cases := testsize.Of(300, 1500, 5000)
	outcomes := map[receipt.Verdict]int{}
	for seed := uint64(0); cases > 0; seed++ {
		d := dice{mathrand.New(mathrand.NewPCG(seed, 27))}
		log, err := replay.ReadLog(bytes.NewReader(d.log().bytes()), "task_1")
		if err != nil {
			t.Fatal(err)
		}
		request := d.request(log)
		asked, err := replay.ParseRequest([]byte(request))
		var p *replay.Plan
		if err == nil {
			p, err = replay.NewPlan(context.Background(), log, asked, nil)
		}
		if _, refused := errors.AsType[*replay.RequestError](err); refused {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		told := recorded(t, events(t, p, replay.Run{TaskID: "task_3"}))
		text, err := json.Marshal(told)
		if err != nil {
			t.Fatal(err)
		}
		var fields members
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		all, draft := changes(fields), sealed(t, told)
		soft := slices.DeleteFunc(slices.Clone(all), func(c change) bool { // neither the log nor the request contains these values
			return !slices.Contains([]string{"/final_artifacts", "/identifiers/tenant_id", "/identifiers/persona_ref", "/trust/policy_ref", "/replay_input/materials/0/uri"}, c.at)
		})
		for range 10 {
			var edits []change
			for range d.IntN(4) {
				edits = append(edits, all[d.IntN(len(all))])
			}
			if d.one(3) {
				edits = []change{soft[d.IntN(len(soft))]}
			}
			doc, ok := issued(t, nil, text, edits...)
			if !ok {
				continue
			}
			cases--
			rep, _ := check(t, p, doc)
			outcomes[rep.Verdict]++
			agrees(t, rep, replay.Compare(doc, draft, replay.Projection), edits)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, request)
		}
	}
	if t.Log(outcomes); outcomes[receipt.Verified] == 0 || outcomes[receipt.Undecided] == 0 || outcomes[receipt.Refuted] == 0 {
		t.Error("a verdict is missing")
	}
}

// agrees compares a report with the differences that Compare returns.
func agrees(t *testing.T, rep *receipt.Report, list []replay.Difference, edits []change) {
	t.Helper()
	metadata := slices.ContainsFunc(edits, func(c change) bool { return strings.HasPrefix(c.at, "/metadata") })
	switch {
	case len(list) == 0 && !metadata && rep.Verdict != receipt.Verified:
		t.Errorf("the same, and %s: %q", rep.Verdict, findings(rep))
	case len(list) > 0 && rep.Verdict == receipt.Verified:
		for _, d := range list {
			if !noted(rep, d.Pointer) {
				t.Errorf("%s differs, and the receipt is verified without a note", d.Pointer)
			}
		}
	case len(list) > 0 && rep.Verdict == receipt.Undecided:
		for _, d := range list {
			if !noted(rep, d.Pointer) && !notedIn(rep, d.Pointer) && !strings.HasPrefix(d.Pointer, "/redactions") && !parentNoted(rep, d.Pointer) {
				t.Errorf("%s differs, and no finding or note names it: %q", d.Pointer, findings(rep))
			}
		}
	}
}

// parentNoted reports whether the report lists the parent of a removed element.
func parentNoted(rep *receipt.Report, at string) bool {
	cut := strings.LastIndexByte(at, '/')
	return cut > 0 && noted(rep, at[:cut])
}
