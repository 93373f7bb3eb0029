package conformance

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/harness/conformance/internal/wire"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// atOnce is the number of concurrent requests with the same key.
const atOnce = 8

func taskOnce(ctx context.Context, s *suite) {
	session := newSession(ctx, s)
	once(ctx, s, path("v1/sessions/%s/tasks", session), "task", func(words string) string {
		return fmt.Sprintf(`{"input":{"role":"user","parts":[{"type":"text","text":%q,"visibility":"public"}]},"metadata":{"a":1,"b":"x"}}`, words)
	}, func(words string) string {
		return fmt.Sprintf(` { "metadata" : {"b":"\u0078","a":1.0e0}, "input":{"parts":[{"visibility":"public","text":%q,"type":"text"}],"role":"user"}}`, words)
	})
}

func messageOnce(ctx context.Context, s *suite) {
	session := newSession(ctx, s)
	once(ctx, s, path("v1/sessions/%s/messages", session), "message", func(words string) string {
		return fmt.Sprintf(`{"message":{"role":"user","parts":[{"type":"text","text":%q,"visibility":"public"}]}}`, words)
	}, func(words string) string {
		return fmt.Sprintf("{\n \"message\": {\"parts\":[{\"visibility\":\"public\",\"text\":%q,\"type\":\"te\\u0078t\"}],\"role\":\"user\"}}\n", words)
	})
}

// once sends a body several times with the same key, first sequentially and then concurrently, and
// counts the resulting items in the list at the same path.
func once(ctx context.Context, s *suite, path, kind string, body, same func(words string) string) {
	key, words := "ours-"+s.id+"-"+kind, "once, a "+kind+" of the run "+s.id
	send := func(key, body string) *wire.Answer {
		return s.client.Do(ctx, wire.Request{Method: "POST", Path: path, Once: key, Body: []byte(body)})
	}

	first := expect(send(key, body(words)).Status(200, 201, 202).Object(kind).Has("id"))
	id := text(first.Root(), "id")
	for _, again := range []string{body(words), same(words)} {
		a := send(key, again).Status(200, 201, 202).Object(kind).Has("id")
		if got := text(a.Root(), "id"); a.Err == nil && got != id {
			a.Fail("expected the %s %s again, found %s", kind, wire.Quote(id), wire.Quote(got))
		}
		must(a.Err)
	}
	expect(send(key, body("another")).Status(409).Error(protocol.CodeKeyReused))

	both := "at once, " + words
	together(ctx, s, func() *wire.Answer { return send(key+"-2", body(both)) }, kind)
	countedOnce(ctx, s, path, words, both)
}

// together sends a request several times concurrently. All requests must yield the same resource. A
// request is repeated if the response states that the first request is still in progress.
func together(ctx context.Context, s *suite, send func() *wire.Answer, kind string) {
	ctx, cancel := context.WithTimeout(ctx, min(s.client.Timeout(), pollLasts))
	defer cancel()
	var group sync.WaitGroup
	answers := make([]*wire.Answer, atOnce)
	for i := range answers {
		group.Go(func() {
			for answers[i] = send(); answers[i].Is(202) && text(answers[i].Root(), "object") != kind; answers[i] = send() {
				if !wait(ctx, 20*time.Millisecond) {
					return
				}
			}
		})
	}
	group.Wait()

	id := ""
	for _, a := range answers {
		got := text(a.Status(200, 201, 202).Object(kind).Has("id").Root(), "id")
		if id == "" {
			id = got
		}
		if a.Err == nil && got != id {
			a.Fail("expected the %s %s of all requests with one key, found %s", kind, wire.Quote(id), wire.Quote(got))
		}
		must(a.Err)
	}
}

// countedOnce expects that each of the given words occurs in exactly one item of a list. Other
// items are ignored, because the list for a session also contains the messages of its tasks.
func countedOnce(ctx context.Context, s *suite, path string, words ...string) {
	list := items(ctx, s, path, 200)
	for _, want := range words {
		n := 0
		for _, item := range list {
			if strings.Contains(wire.Canonical(item), `"`+want+`"`) {
				n++
			}
		}
		if n != 1 {
			fail("GET /%s: expected one item of all requests with one key, found %d", path, n)
		}
	}
}
