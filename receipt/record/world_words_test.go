package record_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/record"
)

// conversation returns the log of a session in frames: a prompt, chunks of an answer, and a cost in
// thousandths.
func conversation(prompt string, chunks []string, cost int) string {
	var b strings.Builder
	line := func(second int, from, frame string) {
		fmt.Fprintf(&b, `{"at":"2026-01-01T00:00:%02dZ","from":%q,"frame":{"jsonrpc":"2.0",%s}}`+"\n", second, from, frame)
	}
	line(1, "client", `"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":`+strconv.Quote(prompt)+`}]}`)
	update := func(update string) {
		line(2, "agent", `"method":"session/update","params":{"sessionId":"s","update":{`+update+`}}`)
	}
	for _, text := range chunks {
		update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + strconv.Quote(text) + `}`)
	}
	update(fmt.Sprintf(`"sessionUpdate":"usage_update","used":5,"size":9,"cost":{"amount":%d.%03d,"currency":"USD"}`, cost/1000, cost%1000))
	line(3, "agent", `"id":1,"result":{"stopReason":"end_turn"}`)
	return b.String()
}

// TestOneWordMore verifies that two sessions that differ in one word have different digests, and
// that two sessions with different costs have drafts with different costs and digests. Identical
// sessions have identical costs and digests.
func TestOneWordMore(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	of := func(prompt string, chunks []string, cost int) *receipt.Draft {
		return read(t, worldOptions(), []byte(conversation(prompt, chunks, cost)), record.FormFrames).Draft
	}
	words := func() []string {
		list := make([]string, 1+rng.IntN(6))
		for i := range list {
			list[i] = fmt.Sprintf("word%d ", rng.IntN(1000))
		}
		return list
	}
	for range 200 {
		prompt, chunks, cost := strings.Join(words(), ""), words(), rng.IntN(10_000)
		d := of(prompt, chunks, cost)
		if logDigest(d) == "" || logDigest(d) != logDigest(of(prompt, chunks, cost)) {
			t.Fatalf("the same session has %q", logDigest(d))
		}
		if d.Cost.Total != float64(cost)/1000 {
			t.Fatalf("cost %v, expected %d/1000", d.Cost.Total, cost)
		}
		if d.ReplayInput.Determinism != "best_effort" {
			t.Fatalf("%s, for an input that cannot be replayed", d.ReplayInput.Determinism)
		}
		other := append([]string{}, chunks...)
		other[rng.IntN(len(other))] += "not "
		for name, changed := range map[string]*receipt.Draft{
			"asked": of(prompt+"not ", chunks, cost), "said": of(prompt, other, cost), "reported as cost": of(prompt, chunks, cost+1),
		} {
			if logDigest(changed) == logDigest(d) {
				t.Fatalf("another word %s, the same digest %s", name, logDigest(d))
			}
		}
	}
}

// TestOnlyWhatFramesSay verifies that the draft for a log of frames contains exactly the facts that
// the frames record.
func TestOnlyWhatFramesSay(t *testing.T) { eachWorld(t, true) }
