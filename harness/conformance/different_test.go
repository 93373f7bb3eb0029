package conformance_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/harness/conformance"
	"github.com/receiptkit/receiptkit/harness/internal/harness"
)

// A different server conforms to the protocol in an alternative way. The field named asks lists the
// categories that can detect the difference. If the list is empty, or if the tests run at full
// size, all categories are checked.
type different struct {
	asks string
	way  func(*honest) http.Handler
}

// TestDifferent verifies that a server that conforms in an alternative way has no failures.
func TestDifferent(t *testing.T) {
	for name, d := range map[string]different{
		"a task that is canceled again is a conflict": {"core lifecycle level-core level-receipts", func(o *honest) http.Handler {
			var canceled seen
			return o.lies(nil, func(x *exchanged) {
				if x.is("POST", "/v1/tasks/*/cancel") && x.status == http.StatusOK {
					if _, before := canceled.put(x.path, "x"); before {
						x.status, x.answer = http.StatusConflict, []byte(`{"error":{"code":"conflict","message":"it was canceled","type":"conflict_error"}}`)
					}
				}
			})
		}},
		"each state is told twice, by task.status_changed first": {"level-core", func(o *honest) http.Handler {
			return o.statesTwice()
		}},
		"errors name what was asked for": {"auth-and-scopes idempotency level-core level-replay", func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				if x.status >= 400 {
					x.set("/error/message", `"GET `+x.path+` is refused"`)
				}
			})
		}},
		"times with another form of UTC": {"lifecycle level-core level-receipts", func(o *honest) http.Handler {
			return o.tasks(func(x *exchanged) {
				for _, at := range []string{"/completed_at", "/canceled_at", "/started_at", "/created_at"} {
					if text := textAt(x.answer, at); text != "" {
						x.set(at, `"`+strings.TrimSuffix(text, "Z")+`+00:00"`)
					}
				}
			})
		}},
		"members in another order": {"", func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				if !strings.Contains(x.path, "receipts") && !strings.HasSuffix(x.path, "/content") {
					if doc, err := canon.Parse(x.answer); err == nil {
						x.answer = doc.AppendCanonical(nil)
					}
				}
			})
		}},
		"neither receipts nor replay": {"", func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				switch {
				case x.path == "/v1":
					x.set("/capabilities/receipts", "false")
					x.set("/capabilities/replay", "false")
				case strings.Contains(x.path, "receipt") || strings.Contains(x.path, "replay"):
					x.status, x.answer = 404, []byte(`{"error":{"code":"resource_not_found","message":"no","type":"not_found_error"}}`)
				}
			})
		}},
		"a receipt after the end": {"core replay level-core", func(o *honest) http.Handler {
			var shown seen // whether the last answer contained the receipt, or the event about it
			late := func(of string) bool {
				before, known := shown.put(of, "no")
				if before == "no" {
					shown.put(of, "yes")
				}
				return !known || before == "yes" && strings.Contains(of, "limit=200")
			}
			return o.lies(nil, func(x *exchanged) {
				if x.path == "/v1" {
					x.set("/capabilities/receipts", "false")
				}
				show := func(n canon.Node) { // another answer shows the receipt of a task
					if at := "/v1/tasks/" + n.Member("id").String(); at != x.path && n.Member("receipt_id").String() != "" {
						shown.put(at, "yes")
					}
				}
				show(valueAt(x.answer, ""))
				for _, n := range valueAt(x.answer, "/data").Elements() {
					show(n)
				}
				if x.is("GET", "/v1/tasks/*") && textAt(x.answer, "/receipt_id") != "" && late(x.path) {
					x.set("/receipt_id", "null")
				}
				last := valueAt(x.answer, "/data").Len() - 1
				counted := x.query == "" || strings.Contains(x.query, "limit=200")
				if counted && textAt(x.answer, fmt.Sprintf("/data/%d/event", last)) == "receipt.issued" && late(x.path+"?"+x.query) {
					x.drop(last)
				}
			})
		}},
		"no verification of what is sent": {"core receipts level-receipts level-replay", func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				if x.path == "/v1/verify" {
					x.status, x.answer = 404, []byte(`{"error":{"code":"resource_not_found","message":"no","type":"not_found_error"}}`)
				}
			})
		}},
		"a list that grows whenever it is read": {"core level-core", func(o *honest) http.Handler {
			return o.lies(func(r *http.Request, _ []byte) {
				if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/messages") && r.URL.RawQuery == "limit=2" {
					o.again("POST", r.URL.Path, []byte(`{"message":{"role":"user","parts":[{"type":"text","text":"meanwhile","visibility":"public"}]}}`))
				}
			}, nil)
		}},
		"a replay that is asked for again is answered 200": {"level-replay", func(o *honest) http.Handler {
			var asked seen
			return o.lies(nil, func(x *exchanged) {
				if key := x.header.Get("Idempotency-Key"); key != "" && x.is("POST", "/v1/tasks/*/replay") && x.status == http.StatusAccepted {
					if _, again := asked.put(key, "x"); again {
						x.status = http.StatusOK
					}
				}
			})
		}},
		"receipts by their media type alone": {"core receipts level-receipts level-replay everything-seen", func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				x.patch(patch{"GET /v1/receipts/*", "/wire", "", ""})
				for range valueAt(x.answer, "/data").Len() {
					x.patch(patch{"GET /v1/tasks/*/receipts", "/data/0/wire", "", ""})
				}
			})
		}},
		"more members than anybody asked for": {"core level-core everything-seen", func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				for _, at := range []string{"/metadata", "/data/0/metadata", "/error/details", "/capabilities"} {
					if value := valueAt(x.answer, at); value.Kind() == canon.KindObject && !strings.Contains(x.path, "events") && !strings.Contains(x.path, "receipts") {
						x.set(at, `{"vendor":{"x":[1,null]}`+strings.Replace(","+string(value.Raw()[1:]), ",}", "}", 1))
					}
				}
			})
		}},
		"what is hidden is forbidden, as what is absent": {"level-core", func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				if x.header.Get("Authorization") == "Bearer "+o.keys[1] && x.status == http.StatusNotFound {
					x.status, x.answer = http.StatusForbidden, []byte(`{"error":{"code":"permission_denied","message":"no","type":"permission_error"}}`)
				}
			})
		}},
		"nothing can be patched": {"core level-core everything-seen", func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				if x.method == http.MethodPatch && x.status == http.StatusOK {
					x.status, x.answer = http.StatusNotImplemented, []byte(`{"error":{"code":"invalid_request","message":"not here","type":"server_error"}}`)
				}
			})
		}},
		"parts that are not public are refused": {"level-core", func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				if hidden().Match(x.body) {
					x.status, x.answer = http.StatusUnprocessableEntity, []byte(`{"error":{"code":"policy_violation","message":"no","type":"permission_error"}}`)
				}
			})
		}},
		"a forbidden client": {"auth-and-scopes level-core", func(o *honest) http.Handler {
			return o.lies(nil, func(x *exchanged) {
				if x.status == 401 {
					x.status, x.answer = 403, []byte(`{"error":{"code":"permission_denied","message":"no","type":"permission_error","param":null,"request_id":null}}`)
				}
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newHonest(t)
			categories := strings.Fields(d.asks)
			if testsize.Full() {
				categories = nil
			}
			report := o.ask(t, d.way(o), categories...)
			if !strings.HasPrefix(name, "each state") {
				if err := report.Err(); err != nil || report.Summary.Score != 1 {
					t.Errorf("score %v: %v", report.Summary.Score, err)
				}
				return
			}
			for _, c := range report.Categories {
				for _, test := range c.Tests {
					if of := []string{"events_tell_states", "canceled_task", "ended_task_stays"}; slices.Contains(of, test.Name) && test.Status != conformance.Passed {
						t.Errorf("%s: %s", test.Name, test.Error)
					}
				}
			}
		})
	}
}

// statesTwice inserts the event task.status_changed before each event that reports a state. The
// additional events shift ranges, streams, and receipts, so only the states can be checked.
func (o *honest) statesTwice() http.Handler {
	states := map[string]string{"task.started": "WORKING", "task.completed": "COMPLETED", "task.canceled": "CANCELED"}
	return o.lies(nil, func(x *exchanged) {
		if !x.is("GET", "/v1/tasks/*/events") {
			return
		}
		var list []string
		for _, n := range valueAt(x.answer, "/data").Elements() {
			if state, tells := states[n.Member("event").String()]; tells {
				changed := set(set(n.Raw(), "/event", `"task.status_changed"`), "/payload", `{"status":"`+state+`"}`)
				list = append(list, string(set(changed, "/id", `"before_`+n.Member("id").String()+`"`)))
			}
			list = append(list, string(n.Raw()))
		}
		x.set("/data", "["+strings.Join(list, ",")+"]")
	})
}

// A thinker is a model that waits for a while and then answers, fails, or asks a question.
type thinker struct {
	lasts       time.Duration
	fails, asks bool
}

func (thinker) Name() (string, string) { return "test", "test-1" }

func (p thinker) Complete(ctx context.Context, asked harness.Prompt) (harness.Completion, error) {
	select {
	case <-time.After(p.lasts):
	case <-ctx.Done():
		return harness.Completion{}, ctx.Err()
	}
	said := `{"choices":[{"message":{"content":"done"}}]}`
	switch {
	case p.fails:
		return harness.Completion{}, &harness.Failure{Code: "tired", Message: "the model is tired"}
	case p.asks && len(asked.Messages) == 1:
		said = `{"choices":[{"message":{"tool_calls":[{"id":"1","type":"function","function":{"name":"person.ask","arguments":"{}"}}]}}]}`
	}
	return harness.Completion{Reply: harness.Reply(said)}, nil
}

// TestOtherTasks verifies that a conforming server has no failures, regardless of how and when its
// tasks end.
func TestOtherTasks(t *testing.T) {
	slow := 300 * time.Millisecond
	if testsize.Full() {
		slow = 3 * time.Second
	}
	for name, p := range map[string]thinker{"slow": {lasts: slow}, "failed": {fails: true}, "asks": {asks: true}, "at once": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newHonestOf(t, p)
			if err := o.ask(t, o.handler, "level-core", "level-receipts", "level-replay").Err(); err != nil {
				t.Error(err)
			}
		})
	}
}
