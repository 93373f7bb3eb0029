package protocol

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// useOf returns a use whose actor, key, and body are derived from the given strings.
func useOf(actor, key, body string) Use {
	return Use{Actor: canon.Sum([]byte(actor)), Key: canon.Sum([]byte(key)), Body: canon.Sum([]byte(body))}
}

// claimed claims a use and, if answer is not nil, settles the use with it. It returns the result
// for the request: the remembered response, "in flight" if another request is doing the work,
// "done" if this request did it, or the error.
func claimed(m *Memory, u Use, now time.Time, answer *answer) string {
	claim, err := m.claim(u, now)
	switch {
	case err != nil:
		e := errorOf(err)
		return strings.TrimSpace(fmt.Sprint(e.status(), " ", e.Code, " ", e.Header.Get("Retry-After")))
	case claim.answer != nil:
		return "answered " + string(claim.answer.body)
	case claim.inFlight != nil:
		return "in flight"
	}
	claim.end(answer, now)
	return "done"
}

func answerOf(text string) *answer {
	return &answer{status: 201, header: http.Header{"Content-Type": {"x"}}, body: []byte(text)}
}

// TestMemory verifies the rules for a key in sequence.
func TestMemory(t *testing.T) {
	m := new(Memory)
	first, err := m.claim(useOf("a", "k", "b"), noon())
	if err != nil || first.answer != nil || first.inFlight != nil {
		t.Fatalf("%+v, %v", first, err)
	}
	day := 24 * time.Hour
	for i, c := range []struct {
		use    Use
		after  time.Duration
		answer *answer
		want   string
	}{
		{useOf("a", "k", "b"), 0, nil, "in flight"},
		{useOf("a", "k", "other"), 0, nil, "409 idempotency_key_reused"},
		{useOf("x", "k", "other"), 0, answerOf("x"), "done"}, // another actor
		{useOf("a", "K", "other"), 0, answerOf("K"), "done"}, // another key
		{useOf("a", "failed", "b"), 0, nil, "done"},
		{useOf("a", "failed", "other"), 0, answerOf("f"), "done"}, // the failed request did no work
		{useOf("a", "failed", "b"), 0, nil, "409 idempotency_key_reused"},
		{useOf("a", "K", "other"), day, nil, "answered K"},
		{useOf("a", "K", "b"), day, nil, "409 idempotency_key_reused"},
		{useOf("a", "K", "b"), day + 1, answerOf("new"), "done"}, // the key may be used again
		{useOf("a", "K", "b"), day + 1, nil, "answered new"},
		{useOf("a", "k", "b"), day + 1, nil, "in flight"}, // it still is
	} {
		if got := claimed(m, c.use, noon().Add(c.after), c.answer); got != c.want {
			t.Errorf("%d: %s, expected %s", i, got, c.want)
		}
	}

	// The day starts with the response, not with the first request.
	first.end(answerOf("late"), noon().Add(day))
	first.end(nil, noon().Add(day)) // only the first call to end has an effect
	if got := claimed(m, useOf("a", "k", "b"), noon().Add(2*day), nil); got != "answered late" {
		t.Error(got)
	}
	if got := claimed(m, useOf("b", "k", "b"), noon().Add(4*day), nil); got != "done" || uses(m) != 0 || len(m.actors) != 0 || m.bytes != 0 {
		t.Errorf("%s; after four days %d uses of %d actors are remembered, in %d bytes", got, uses(m), len(m.actors), m.bytes)
	}
}

// TestMemoryIsFull fills the memory for uses. If a use does not fit, it must be rejected until the
// oldest use is a day old. No client may occupy all the space, and a client without uses must be
// accepted while there is space.
func TestMemoryIsFull(t *testing.T) {
	m := &Memory{Keys: 3}
	for i := range 3 {
		if got := claimed(m, useOf("a", fmt.Sprint(i), ""), noon().Add(time.Duration(i)*time.Hour), answerOf("")); got != "done" {
			t.Fatal(got)
		}
	}
	later := noon().Add(2 * time.Hour)
	for _, c := range []struct{ actor, key, want string }{
		{"a", "3", "429 rate_limited 79201"},
		{"a", "0", "answered"},
		{"b", "3", "done"},
	} {
		if got := strings.TrimSpace(claimed(m, useOf(c.actor, c.key, ""), later, answerOf(""))); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if got := claimed(m, useOf("a", "3", ""), noon().Add(24*time.Hour+1), answerOf("")); got != "done" {
		t.Errorf("when the oldest is forgotten: %s", got)
	}

	// With a limit in bytes, a single client gets half of the memory, and two clients get a third
	// each. There must be space for a new client, regardless of how much other clients use.
	m = &Memory{Bytes: 64 << 10}
	large := answerOf(strings.Repeat("x", 20<<10))
	var got []string
	for _, actor := range []string{"a", "a", "a", "b", "b", "c", "d"} {
		got = append(got, claimed(m, useOf(actor, fmt.Sprint(len(got)), ""), noon(), large))
	}
	if want := []string{"done", "done", "429 rate_limited 86401", "done", "429 rate_limited 86401", "done", "503 service_unavailable 86401"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, expected %q", got, want)
	}

	// A Memory that may forget uses never rejects a use.
	m = &Memory{Keys: 3, Forget: true}
	for i := range 9 {
		if got := claimed(m, useOf("a", fmt.Sprint(i), ""), noon(), answerOf("")); got != "done" || uses(m) > 3 {
			t.Fatal(i, got, uses(m))
		}
	}
	if got := claimed(m, useOf("a", "8", ""), noon(), nil); got != "answered " {
		t.Error(got)
	}
	if got := claimed(m, useOf("a", "5", ""), noon(), nil); got != "done" {
		t.Error(got)
	}
}

// TestMemoryIsShared verifies that, regardless of how many keys the first two clients use, there is
// space for thousands of keys of a third and a fourth client.
func TestMemoryIsShared(t *testing.T) {
	m := &Memory{Keys: 1 << 20, Bytes: 16 << 20}
	used := map[string]int{}
	for _, actor := range []string{"a", "b", "c", "d"} {
		for ; used[actor] < 1<<15; used[actor]++ {
			got := claimed(m, useOf(actor, fmt.Sprint(used[actor]), ""), noon(), answerOf("short"))
			if strings.HasPrefix(got, "429") {
				break
			}
			if got != "done" {
				t.Fatalf("%s, after %v: %s", actor, used, got)
			}
		}
	}
	if used["c"] < 2000 || used["d"] < 1000 || used["a"] < 10_000 {
		t.Errorf("clients, one after the other, have used %v keys", used)
	}
	if m.bytes > 16<<20 {
		t.Errorf("%d bytes are held, of 16 MiB", m.bytes)
	}
}

// TestRemember verifies that uses keep their responses if they are read from a log after a restart,
// in any order.
func TestRemember(t *testing.T) {
	m := &Memory{Keys: 1}
	for _, c := range []struct {
		key  string
		ago  time.Duration
		want bool
	}{{"young", time.Hour, true}, {"old", 23 * time.Hour, true}, {"gone", 25 * time.Hour, false}, {"young", time.Minute, false}} {
		if got := m.remember(useOf("a", c.key, "b"), *answerOf(c.key), noon().Add(-c.ago), noon()); got != c.want {
			t.Errorf("%s: %v", c.key, got)
		}
	}
	for _, c := range []struct {
		key   string
		after time.Duration
		want  string
	}{{"old", 0, "answered old"}, {"old", 2 * time.Hour, "429 rate_limited 75601"}, {"young", 2 * time.Hour, "answered young"}} {
		if got := claimed(m, useOf("a", c.key, "b"), noon().Add(c.after), answerOf("")); got != c.want {
			t.Errorf("%s after %v: %s, expected %s", c.key, c.after, got, c.want)
		}
	}
}

// TestOnceAmongMany verifies that only one of many concurrent callers does the work, even if
// earlier callers failed. Waiting callers must find the response, even at the moment when it is
// settled.
func TestOnceAmongMany(t *testing.T) {
	for _, fails := range []int{0, 2} {
		for range 2000 {
			if did := onceAmong(16, fails); did != fails+1 {
				t.Fatalf("%d of 16 performed the action that must happen once, when %d of them fail", did, fails)
			}
		}
	}
}

// onceAmong lets n goroutines claim the same work at the same time, and returns how many of them
// did the work. The first fails attempts fail. After each failure, the next caller may do the work.
func onceAmong(n, fails int) (did int) {
	m := new(Memory)
	var among sync.WaitGroup
	var mu sync.Mutex
	atWork := 0
	for range n {
		among.Go(func() {
			for {
				claim, err := m.claim(useOf("a", "k", "b"), noon())
				if err != nil || claim.answer != nil {
					return
				}
				if claim.inFlight != nil { // this caller is new and does not wait
					runtime.Gosched()
					continue
				}

				var answer *answer
				mu.Lock()
				did++
				if atWork++; atWork == 1 && did > fails {
					answer = answerOf("done")
				}
				mu.Unlock()
				runtime.Gosched()
				mu.Lock()
				atWork--
				mu.Unlock()
				claim.end(answer, noon())
			}
		})
	}
	among.Wait()
	return did
}

// TestIdempotencyKey verifies whether the headers of a request result in no key, one key, or an
// error.
func TestIdempotencyKey(t *testing.T) {
	for _, c := range []struct {
		values []string
		good   bool
	}{
		{nil, true}, {[]string{"k"}, true}, {[]string{strings.Repeat("k", 255)}, true},
		{[]string{""}, false}, {[]string{strings.Repeat("k", 256)}, false}, {[]string{"a", "b"}, false},
	} {
		key, err := idempotencyKey(http.Header{"Idempotency-Key": c.values})
		if (err == nil) != c.good || err != nil && (key != "" || errorOf(err).status() != 400) || c.good && len(c.values) == 1 && key != c.values[0] {
			t.Errorf("%.10q: %q, %v", c.values, key, err)
		}
	}
}

// TestOnceOf verifies that each part of the scope and the boundaries between the parts matter. Logs
// contain the digest, so it must never change.
func TestOnceOf(t *testing.T) {
	base := idempotencyScope{Actor: canon.Sum([]byte("a")), Workspace: "w", Method: "POST", Target: "/v1/tasks", Key: "k"}
	seen := map[canon.Digest]string{}
	for name, change := range map[string]func(*idempotencyScope){
		"base":      func(*idempotencyScope) {},
		"actor":     func(s *idempotencyScope) { s.Actor = canon.Sum([]byte("b")) },
		"workspace": func(s *idempotencyScope) { s.Workspace = "v" },
		"method":    func(s *idempotencyScope) { s.Method = "PATCH" },
		"target":    func(s *idempotencyScope) { s.Target = "/v1/sessions" },
		"key":       func(s *idempotencyScope) { s.Key = "K" },
		"border":    func(s *idempotencyScope) { s.Workspace, s.Method = "wP", "OST" },
	} {
		s := base
		change(&s)
		d := onceOf(s)
		if other, twice := seen[d]; twice {
			t.Errorf("%s is %s", name, other)
		}
		seen[d] = name
	}
	if got := onceOf(base).String(); seen[onceOf(base)] != "base" || got != "sha256:"+onceOfBase {
		t.Error(got)
	}
}

const onceOfBase = "963bf778865dac697b14b80a71a31989d5d9503d85001580c8787558b3964cf4"

// TestClaimErrorsSayNothing verifies that an error contains neither the key nor the body.
func TestClaimErrorsSayNothing(t *testing.T) {
	m := new(Memory)
	claimed(m, useOf("a", "k", "b"), noon(), answerOf("secret"))
	_, err := m.claim(useOf("a", "k", "c"), noon())
	var e *Error
	if !errors.As(err, &e) || strings.Contains(err.Error(), "secret") || e.Param != "Idempotency-Key" {
		t.Errorf("%v", err)
	}
}

// uses returns the number of uses that are remembered.
func uses(m *Memory) (n int) {
	for _, a := range m.actors {
		n += len(a.byKey)
	}
	return n
}
