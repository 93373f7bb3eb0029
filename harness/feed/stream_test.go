package feed

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// streaming returns routes that serve a log both as a stream and as ranges.
func streaming(log Log) []protocol.Route {
	return []protocol.Route{
		{Pattern: "GET /v1/events/stream", Serve: func(w http.ResponseWriter, r *protocol.Request) error { return WriteStream(w, r, log) }},
		{Pattern: "GET /v1/events", Params: RangeParams(), Serve: func(w http.ResponseWriter, r *protocol.Request) error { return WriteRange(w, r, log) }},
	}
}

// idsOf returns the IDs of frames.
func idsOf(frames []frame) string {
	var ids []string
	for _, f := range frames {
		ids = append(ids, f.id)
	}
	return strings.Join(ids, " ")
}

// TestStream verifies that a stream starts at the beginning or after the event that the client
// specifies, and contains one frame per event.
func TestStream(t *testing.T) {
	j := &journal{ended: true}
	j.append(150) // several pages
	m := muxOf(t, nil, streaming(j)...)
	for _, c := range []struct {
		last        string
		first, most int
	}{{"", 0, 150}, {"e000000", 1, 149}, {"e000120", 121, 29}, {"e000149", 150, 0}} {
		got := ask(m, "GET", "/v1/events/stream", "", "Last-Event-ID", c.last)
		if got.status != 200 || got.header.Get("Content-Type") != "text/event-stream" || got.header.Get("X-Accel-Buffering") != "no" || got.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v", got.status, got.header)
		}
		if c.most == 0 {
			if got.body != "" {
				t.Errorf("after the last event: %q", got.body)
			}
			continue
		}
		frames, comments := framesOf(t, got.body)
		if len(frames) != c.most || comments > 0 {
			t.Fatalf("from %q: %d frames", c.last, len(frames))
		}
		for i, f := range frames {
			var e struct {
				Object, ID, Event string
				Sequence          *uint
			}
			if err := json.Unmarshal([]byte(f.data), &e); err != nil || e.Object != "event" || e.ID != f.id || e.Event != f.event || e.Sequence == nil || int(*e.Sequence) != c.first+i {
				t.Fatalf("%d: %+v %v", i, f, err)
			}
		}
	}
	if j.most > 64 {
		t.Errorf("a stream held %d events", j.most)
	}
	if got := ask(m, "HEAD", "/v1/events/stream", ""); got.status != 200 || got.body != "" {
		t.Errorf("HEAD: %d %q", got.status, got.body)
	}
	for _, values := range [][]string{{"a", "b"}, {"a\nb"}, {"\xff"}, {strings.Repeat("x", 1025)}} {
		got := askRaw(m, "GET", "/v1/events/stream", "", http.Header{"Harn-Agents-Protocol-Version": {protocol.Version}, "Last-Event-Id": values})
		if got.said() != "400 invalid_request Last-Event-ID" {
			t.Errorf("%.20q: %d %s", values, got.status, got.body)
		}
	}
}

// TestStreamFailures verifies that a stream ends with an error event if its position has expired,
// either at the start or later, or if the log is unreadable. The error event has the ID of the last
// event, if any.
func TestStreamFailures(t *testing.T) {
	var log bytes.Buffer
	for name, c := range map[string]struct {
		last    string
		change  func(*journal)
		frames  string // IDs of the expected events
		code    string
		errorID string
	}{
		"an unknown event": {last: "e999999", code: "cursor_expired"},
		"another text":     {last: "x", code: "cursor_expired"},
		"a pruned event":   {last: "e000001", change: func(j *journal) { j.pruned = 2 }, code: "cursor_expired"},
		"a failing disk":   {change: func(j *journal) { j.fail = errors.New("read /secret/log: bad sector") }, code: "internal_error"},
		"a bad event":      {change: func(j *journal) { j.events[2].Kind = "a\nb" }, frames: "e000000 e000001", code: "internal_error", errorID: "e000001"},
		"a circle":         {change: func(j *journal) { j.events[2] = j.events[1] }, frames: "e000000 e000001", code: "internal_error", errorID: "e000001"},
	} {
		j := new(journal)
		j.append(3)
		if c.change != nil {
			c.change(j)
		}
		log.Reset()
		m := muxOf(t, func(o *protocol.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) }, streaming(j)...)
		got := ask(m, "GET", "/v1/events/stream", "", "Last-Event-ID", c.last)
		if got.status != 200 || strings.Contains(got.body, "secret") {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		frames, _ := framesOf(t, got.body)
		end := frames[len(frames)-1]
		var e struct {
			Error struct{ Code, Type, Message string }
		}
		if err := json.Unmarshal([]byte(end.data), &e); err != nil || end.event != "error" || e.Error.Code != c.code || end.id != c.errorID || idsOf(frames[:len(frames)-1]) != c.frames {
			t.Errorf("%s: %v %s", name, err, got.body)
		}
		if (c.code == "internal_error") != strings.Contains(log.String(), "request failed") {
			t.Errorf("%s: logged %q", name, &log)
		}
	}
}

// TestRange verifies that a range contains the events that follow the event named by the client.
func TestRange(t *testing.T) {
	j := new(journal)
	j.append(60)
	j.pruned = 5
	m := muxOf(t, nil, streaming(j)...)
	for path, want := range map[string]string{
		"/v1/events":           "50 e000049",
		"/v1/events?limit=2":   "2 e000001",
		"/v1/events?limit=200": "60 ",
		"/v1/events?after_event_id=e000049&limit=10": "10 ",
		"/v1/events?after_event_id=e000048&limit=10": "10 e000058",
		"/v1/events?after_event_id=e000059":          "0 ",
		"/v1/events?after_event_id=e000060":          "410 cursor_expired after_event_id",
		"/v1/events?after_event_id=e000004":          "410 cursor_expired after_event_id",
		"/v1/events?after_event_id=%00":              "400 invalid_request after_event_id",
		"/v1/events?cursor=x":                        "400 invalid_request cursor",
		"/v1/events?limit=201":                       "400 invalid_request limit",
	} {
		got := ask(m, "GET", path, "")
		said := got.said()
		if got.status == 200 {
			p := pageOf[json.RawMessage](t, got)
			next := ""
			if p.Page.NextCursor != nil {
				next = *p.Page.NextCursor
			}
			said = fmt.Sprint(len(p.Data), " ", next)
		}
		if said != want {
			t.Errorf("%s: %s, expected %s", path, said, want)
		}
		if again := ask(m, "GET", path, ""); got.status == 200 && again.body != got.body {
			t.Errorf("%s: other bytes the second time", path)
		}
	}
	j.ended = true
	if p := pageOf[json.RawMessage](t, ask(m, "GET", "/v1/events?limit=200", "")); len(p.Data) != 60 || p.Page.HasMore {
		t.Errorf("a log that has ended: %d", len(p.Data))
	}
	j.fail = errors.New("bad sector")
	if got := ask(m, "GET", "/v1/events", ""); got.said() != "500 internal_error" || strings.Contains(got.body, "sector") {
		t.Error(got.body)
	}
}

// A listener is a client that reads a stream over the loopback interface.
type listener struct {
	t     testing.TB
	res   *http.Response
	lines *bufio.Reader
	leave func()
	begun bool // an event came
}

// listen opens a stream on a server.
func listen(t testing.TB, s *httptest.Server, last string, headers ...string) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/v1/events/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(protocol.VersionHeader, protocol.Version)
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return &listener{t, res, bufio.NewReader(res.Body), func() { cancel(); res.Body.Close() }, false}
}

// next returns the next event, or "" if the stream has ended. On a slow machine, comments may
// arrive between events, but never before the first event.
func (l *listener) next() string {
	l.t.Helper()
	block := ""
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			return ""
		}
		block += line
		switch {
		case block == ":\n\n" && l.begun:
			block = ""
		case strings.HasSuffix(block, "\n\n"):
			l.begun = true
			return block
		}
	}
}

// TestStreamGoesOn verifies that every client receives all appended events in order and exactly
// once, even if it reconnects with its last event ID.
func TestStreamGoesOn(t *testing.T) {
	before := runtime.NumGoroutine()
	j := new(journal)
	j.append(1)
	s := httptest.NewServer(muxOf(t, nil, streaming(j)...))
	const all = 600
	var among sync.WaitGroup
	for client := range uint64(8) {
		among.Go(func() {
			random := rand.New(rand.NewPCG(client, 2))
			last, seen := "", 0
			for seen < all {
				l := listen(t, s, last)
				for range 1 + random.IntN(100) {
					frames, _ := framesOf(t, l.next())
					if frames[0].id != eventOf(seen).ID {
						t.Errorf("client %d: %q after %d events", client, frames[0].id, seen)
						l.leave()
						return
					}
					last = frames[0].id
					if seen++; seen == all {
						break
					}
				}
				l.leave()
			}
		})
	}
	for n := 1; n < all; {
		more := min(1+n%7, all-n)
		j.append(more)
		n += more
		runtime.Gosched()
	}
	among.Wait()
	s.Client().CloseIdleConnections()
	s.Close()
	quiet(t, before)
}

// TestStreamsAreLeft verifies that a disconnected client leaves no goroutine behind and occupies no
// stream, even if it disconnects within a frame. One client may open 512 streams.
func TestStreamsAreLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	j := new(journal)
	j.append(100)
	count := &counter{Handler: muxOf(t, nil, streaming(j)...)}
	s := httptest.NewServer(count)
	for range 140 {
		var open []*listener
		for range 4 {
			l := listen(t, s, "")
			if open = append(open, l); l.res.StatusCode != 200 || l.next() == "" {
				t.Fatal(l.res.Status)
			}
		}
		for _, l := range open {
			l.leave()
		}
		until(t, "all have left", func() bool { return count.now.Load() == 0 })
	}
	s.Client().CloseIdleConnections()
	s.Close()
	quiet(t, before)
}

// TestSlowReader verifies that a client that does not read delays neither the writer nor other
// clients, and is disconnected after the idle timeout. The log must still contain the events that
// the client missed.
func TestSlowReader(t *testing.T) {
	before := runtime.NumGoroutine()
	j := new(journal)
	large := strings.Repeat("x", 256<<10)
	push := func() {
		j.set(func() {
			e := eventOf(len(j.events))
			e.JSON = fmt.Appendf(nil, `{"object":"event","id":%q,"event":%q,"sequence":%d,"payload":{"x":%q}}`, e.ID, e.Kind, len(j.events), large)
			j.events = append(j.events, e)
		})
	}
	push()
	count := &counter{Handler: muxOf(t, func(o *protocol.Options) { o.Limits.Idle = 2 * time.Second }, streaming(j)...)}
	s := httptest.NewServer(count)
	addr := s.Listener.Addr().String()
	slow, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprintf(slow, "GET /v1/events/stream HTTP/1.1\r\nHost: x\r\n%s: %s\r\n\r\n", protocol.VersionHeader, protocol.Version)
	quick := listen(t, s, "")
	for i := range 64 { // 16 MiB, which exceeds all socket buffers
		if frames, _ := framesOf(t, quick.next()); frames[0].id != eventOf(i).ID {
			t.Fatalf("%q at %d", frames[0].id, i)
		}
		push()
	}

	// The slow client is disconnected before it has received all events.
	until(t, "one client is left", func() bool { return count.now.Load() == 1 })
	_ = slow.SetReadDeadline(time.Now().Add(30 * time.Second))
	text, _ := io.ReadAll(slow)
	if n := bytes.Count(text, []byte("\nevent: ")); n >= 65 {
		t.Errorf("it read all of %d events", n)
	}
	quick.leave()
	s.Client().CloseIdleConnections()
	s.Close()
	quiet(t, before)
}

// TestBeats verifies that the server sends comments on an idle stream, but not before the first
// event.
func TestBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(journal)
		m := muxOf(t, nil, streaming(j)...)
		ctx, leave := context.WithCancel(context.Background())
		r := httptest.NewRequestWithContext(ctx, "GET", "/v1/events/stream", nil)
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		w := httptest.NewRecorder()
		ended := make(chan struct{})
		go func() { m.ServeHTTP(w, r); close(ended) }()

		time.Sleep(time.Hour)
		synctest.Wait()
		if w.Body.Len() > 0 || !w.Flushed {
			t.Errorf("before the first event: %q", w.Body)
		}
		j.append(1)
		time.Sleep(time.Minute + time.Second)
		j.append(1)
		synctest.Wait()
		frames, comments := framesOf(t, w.Body.String())
		if len(frames) != 2 || comments != 4 {
			t.Errorf("%d frames and %d comments: %q", len(frames), comments, w.Body)
		}
		leave()
		<-ended
	})
}

// TestClose verifies that Close ends all streams and that no new stream can start.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	j := new(journal)
	j.append(3)
	m := muxOf(t, nil, streaming(j)...)
	s := httptest.NewServer(m)
	l := listen(t, s, "")
	for range 3 {
		l.next()
	}
	m.Close()
	m.Close()
	if block := l.next(); block != "" {
		t.Errorf("it ends with %q", block)
	}
	l.leave()
	if got := ask(m, "GET", "/v1/events/stream", ""); got.said() != "503 service_unavailable" {
		t.Error(got.body)
	}
	if got := ask(m, "GET", "/v1/events", ""); got.status != 200 {
		t.Error(got.body)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Config.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	s.Client().CloseIdleConnections()
	s.Close()
	quiet(t, before)
}

// TestBell verifies that a waiting goroutine is woken by the next ring, but not by an earlier one.
func TestBell(t *testing.T) {
	var b Bell
	b.Ring()
	rung := b.Rung()
	select {
	case <-rung:
		t.Fatal("a ring before counts")
	default:
	}
	b.Ring()
	<-rung
	if again := b.Rung(); again == rung {
		t.Error("the same channel again")
	}
}

// TestKeyIsTaken verifies that a stream ends if its client's key is removed or changed.
func TestKeyIsTaken(t *testing.T) {
	for name, reach := range map[string]protocol.Reach{"taken": {}, "narrowed": protocol.Everything().OfWorkspaces("w")} {
		synctest.Test(t, func(t *testing.T) {
			j := new(journal)
			j.append(1)
			keys, bearer := keyOf(t, "a", protocol.Everything())
			var mu sync.Mutex
			m := muxOf(t, func(o *protocol.Options) {
				o.Auth = loadedKeys(func() *protocol.APIKeys { mu.Lock(); defer mu.Unlock(); return keys })
			}, streaming(j)...)
			r := httptest.NewRequest("GET", "/v1/events/stream", nil)
			r.Header.Set(protocol.VersionHeader, protocol.Version)
			r.Header.Set("Authorization", bearer)
			w := httptest.NewRecorder()
			ended := make(chan struct{})
			go func() { m.ServeHTTP(w, r); close(ended) }()
			time.Sleep(time.Minute)
			select {
			case <-ended:
				t.Fatalf("%s: it ends with %s", name, w.Body)
			default:
			}

			mu.Lock()
			if keys, _ = keyOf(t, "a", reach); name == "taken" {
				keys = new(protocol.APIKeys)
			}
			mu.Unlock()
			if name == "taken" {
				j.append(1)
			}
			time.Sleep(16 * time.Second) // longer than the interval between heartbeats; no new events arrive
			<-ended
			if frames, _ := framesOf(t, w.Body.String()); len(frames) != 1 {
				t.Errorf("%s: %s", name, w.Body)
			}
		})
	}
}

// TestKeysAreGone verifies that a stream ends if the key set of its client is no longer loaded,
// unless the route requires no key.
func TestKeysAreGone(t *testing.T) {
	for _, open := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			j := new(journal)
			j.append(1)
			var keys atomic.Pointer[protocol.APIKeys]
			loaded, bearer := keyOf(t, "a", protocol.Everything())
			keys.Store(loaded)
			routes := streaming(j)
			for i := range routes {
				routes[i].Open = open
			}
			m := muxOf(t, func(o *protocol.Options) { o.Auth = loadedKeys(keys.Load) }, routes...)
			r := httptest.NewRequest("GET", "/v1/events/stream", nil)
			r.Header.Set(protocol.VersionHeader, protocol.Version)
			r.Header.Set("Authorization", bearer)
			w := httptest.NewRecorder()
			go m.ServeHTTP(w, r)
			time.Sleep(time.Minute)

			keys.Store(nil)
			j.append(1)
			time.Sleep(time.Minute)
			m.Close()
			synctest.Wait()
			want := 1
			if open {
				want = 2
			}
			if frames, _ := framesOf(t, w.Body.String()); len(frames) != want {
				t.Errorf("open %t: %d events, want %d: %s", open, len(frames), want, w.Body)
			}
		})
	}
}

// TestStreamsTakeNoRequests verifies that requests are answered regardless of the number of open
// streams.
func TestStreamsTakeNoRequests(t *testing.T) {
	j := new(journal)
	j.append(1)
	s := httptest.NewServer(muxOf(t, func(o *protocol.Options) { o.Limits.Requests = 2 }, streaming(j)...))
	defer s.Close()
	for range 6 {
		l := listen(t, s, "")
		defer l.leave()
		if l.res.StatusCode != 200 || l.next() == "" {
			t.Fatal(l.res.Status)
		}
	}
}

// A short log returns fewer events at a time than requested.
type short struct {
	Log
	most int
}

func (s short) After(ctx context.Context, id string, limit int) ([]Event, error) {
	page, err := s.Log.After(ctx, id, min(limit, s.most))
	if err == io.EOF && len(page) == s.most {
		err = nil
	}
	return page, err
}

// TestRangeOfShortPages verifies that a range has the requested length within the memory limit,
// regardless of how many events the log returns at a time.
func TestRangeOfShortPages(t *testing.T) {
	j := new(journal)
	j.append(60)
	for _, most := range []int{1, 7, 60} {
		m := muxOf(t, nil, streaming(short{j, most})...)
		for path, want := range map[string]string{"/v1/events": "50 true", "/v1/events?limit=60": "60 false", "/v1/events?limit=1": "1 true", "/v1/events?after_event_id=e000049&limit=10": "10 false"} {
			p := pageOf[json.RawMessage](t, ask(m, "GET", path, ""))
			if got := fmt.Sprint(len(p.Data), " ", p.Page.HasMore); got != want {
				t.Errorf("%d at a time, %s: %s, expected %s", most, path, got, want)
			}
		}
	}

	long := new(journal)
	long.append(5)
	for i := range long.events {
		long.events[i].JSON = fmt.Appendf(nil, `{"id":"e%06d","text":"%s"}`, i, strings.Repeat("a", 3<<20))
	}
	var sizes []int
	for path := "/v1/events"; path != ""; {
		p := pageOf[json.RawMessage](t, ask(muxOf(t, nil, streaming(long)...), "GET", path, ""))
		sizes = append(sizes, len(p.Data))
		if path = ""; p.Page.HasMore {
			path = "/v1/events?after_event_id=" + *p.Page.NextCursor
		}
	}
	if !slices.Equal(sizes, []int{2, 2, 1}) {
		t.Errorf("%d", sizes)
	}
}

// TestUnreadStreams verifies that a stream waits while unread streams use up the memory for pages,
// and continues after those streams have ended.
func TestUnreadStreams(t *testing.T) {
	long := Event{ID: "event_1", Kind: "x", JSON: json.RawMessage(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)}
	m := muxOf(t, func(o *protocol.Options) { o.Limits.Memory = 2 << 20 }, protocol.Route{Pattern: "GET /stream", Serve: func(w http.ResponseWriter, r *protocol.Request) error {
		return WriteStream(w, r, oneEvent{long})
	}})
	gate := make(chan struct{})
	_, first := unread(m, "/stream", "192.0.2.1", gate)
	waits := &stuckWriter{ResponseRecorder: httptest.NewRecorder(), gate: gate, writing: make(chan struct{}, 1000)}
	second := make(chan struct{})
	go func() {
		r := httptest.NewRequest("GET", "/stream", nil)
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		r.RemoteAddr = "192.0.2.1:2"
		m.ServeHTTP(waits, r)
		close(second)
	}()
	select {
	case <-waits.writing:
		t.Error("both streams of one client hold a page")
	case <-time.After(300 * time.Millisecond):
	}
	close(gate)
	<-first
	<-second
	if !strings.Contains(waits.Body.String(), "event_1") {
		t.Error("the second stream has no event")
	}
}

// oneEvent is a log that contains a single event.
type oneEvent struct{ event Event }

func (l oneEvent) Appended() <-chan struct{} { return nil }

func (l oneEvent) After(_ context.Context, id string, _ int) ([]Event, error) {
	if id != "" {
		return nil, io.EOF
	}
	return []Event{l.event}, io.EOF
}
