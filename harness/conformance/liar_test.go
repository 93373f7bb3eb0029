package conformance_test

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/conn"
	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/archive"
	"github.com/receiptkit/receiptkit/receipt/keys"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// An exchanged request is a request that a liar receives, together with the honest response.
type exchanged struct {
	method, path string
	query        string
	body         []byte
	header       http.Header // of the request

	status int
	answer []byte
	media  string
}

// is reports whether the request has the given method and a path that matches the pattern. In the
// pattern, "*" matches one segment.
func (x *exchanged) is(method, pattern string) bool {
	fits, err := path.Match(pattern, x.path)
	return err == nil && fits && x.method == method
}

func isStream(path string) bool { return strings.HasSuffix(path, "/stream") }

// lies intercepts requests and responses. Either function may be nil.
func (o *honest) lies(asked func(r *http.Request, body []byte), answered func(x *exchanged)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		x := &exchanged{method: r.Method, path: r.URL.Path, query: r.URL.RawQuery, body: body, header: r.Header.Clone()}
		r.Body = conn.Whole(body)
		if asked != nil {
			asked(r, body)
		}
		if isStream(r.URL.Path) || answered == nil {
			o.handler.ServeHTTP(w, r)
			return
		}

		honest := httptest.NewRecorder()
		o.handler.ServeHTTP(honest, r)
		x.status, x.answer, x.media = honest.Code, honest.Body.Bytes(), honest.Header().Get("Content-Type")
		answered(x)
		for name, values := range honest.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(x.answer)))
		w.WriteHeader(x.status)
		w.Write(x.answer)
	})
}

// again sends another request to the honest harness on behalf of the first client.
func (o *honest) again(method, path string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, bytes.NewReader(body))
	r.Header.Set(protocol.VersionHeader, protocol.Version)
	r.Header.Set("Authorization", "Bearer "+o.keys[0])
	r.Header.Set("Content-Type", protocol.MediaJSON)
	w := httptest.NewRecorder()
	o.handler.ServeHTTP(w, r)
	return w
}

// frames intercepts the events in streams. For each frame, it sends the result of change instead.
func (o *honest) frames(change func(path string, behind string, n int, frame []byte) []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isStream(r.URL.Path) {
			w = &framed{ResponseWriter: w, change: func(n int, frame []byte) []byte { return change(r.URL.Path, r.Header.Get("Last-Event-ID"), n, frame) }}
		}
		o.handler.ServeHTTP(w, r)
	})
}

// A framed response writer passes the output to change, one frame at a time.
type framed struct {
	http.ResponseWriter
	change func(int, []byte) []byte
	n      int
}

func (f *framed) Unwrap() http.ResponseWriter { return f.ResponseWriter }

func (f *framed) Write(frame []byte) (int, error) {
	if bytes.HasPrefix(frame, []byte("id: ")) {
		f.n++
	}
	_, err := f.ResponseWriter.Write(f.change(f.n, bytes.Clone(frame)))
	return len(frame), err
}

// valueAt returns a value in a JSON text, or the zero node if the value does not exist.
func valueAt(body []byte, pointer string) canon.Node {
	doc, err := canon.Parse(body)
	if err != nil {
		return canon.Node{}
	}
	at, err := canon.ParsePointer(pointer)
	if err != nil {
		panic(err)
	}
	n, _ := doc.Find(at)
	return n
}

func textAt(body []byte, pointer string) string { return valueAt(body, pointer).String() }

// set replaces a value in a JSON text and keeps all other bytes. If the value does not exist, the
// text is unchanged.
func set(body []byte, pointer, value string) []byte {
	n := valueAt(body, pointer)
	if n.IsZero() {
		return body
	}
	out := append([]byte(nil), body[:n.Offset()]...)
	return append(append(out, value...), body[n.Offset()+len(n.Raw()):]...)
}

// set replaces a value in the response.
func (x *exchanged) set(pointer, value string) { x.answer = set(x.answer, pointer, value) }

// drop removes an item from the list in the response.
func (x *exchanged) drop(item int) {
	var list []string
	for i, n := range valueAt(x.answer, "/data").Elements() {
		if i != item {
			list = append(list, string(n.Raw()))
		}
	}
	x.set("/data", "["+strings.Join(list, ",")+"]")
}

// receipts applies change to receipts in every response that contains them: alone, as a resource,
// as an archive, and in a list. The server still verifies the stored receipts.
func (o *honest) receipts(change func(receipt []byte) []byte) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		switch {
		case x.status != http.StatusOK || x.method != http.MethodGet:
		case x.is("GET", "/v1/receipts/*") && strings.Contains(x.media, "cbor"):
			codec := archive.NewCodec()
			text, err := codec.ToJSON(x.answer)
			if err != nil {
				panic(err)
			}
			doc, err := canon.Parse(change(text))
			if err != nil {
				panic(err)
			}
			if x.answer, err = codec.Append(nil, doc); err != nil {
				panic(err)
			}
		case x.is("GET", "/v1/receipts/*") && strings.Contains(x.media, "vnd.harn.receipt"):
			x.answer = change(x.answer)
		case x.is("GET", "/v1/receipts/*"):
			x.set("/wire/payload", string(change(valueAt(x.answer, "/wire/payload").Raw())))
		case x.is("GET", "/v1/tasks/*/receipts"):
			for i := range valueAt(x.answer, "/data").Len() {
				at := "/data/" + strconv.Itoa(i) + "/wire/payload"
				x.set(at, string(change(valueAt(x.answer, at).Raw())))
			}
		}
	})
}

// replays applies change to the receipts for replays.
func (o *honest) replays(change func(receipt []byte) []byte) http.Handler {
	return o.receipts(func(text []byte) []byte {
		if textAt(text, "/subject/object") != "replay_segment" {
			return text
		}
		return o.reseal(o.private, change(text))
	})
}

// reseal recomputes the hash of a changed receipt and signs the receipt.
func (o *honest) reseal(key *keys.PrivateKey, text []byte) []byte {
	doc, err := canon.Parse(text)
	if err != nil {
		panic(err)
	}
	hash, err := chain.Hash(doc)
	if err != nil {
		panic(err)
	}
	signature, err := keys.NewSigner(key, nil).Sign(context.Background(), []byte(hash.String()))
	if err != nil {
		panic(err)
	}
	entry, err := receipt.AppendJSON(nil, []receipt.Signature{signature})
	if err != nil {
		panic(err)
	}
	return set(set(text, "/chain/receipt_hash", `"`+hash.String()+`"`), "/signatures", string(entry))
}

// events applies change to events in every response that contains them.
func (o *honest) events(change func(event []byte) []byte) http.Handler {
	changed := o.lies(nil, func(x *exchanged) {
		switch {
		case x.status != http.StatusOK:
		case x.is("GET", "/v1/events/*"):
			x.answer = change(x.answer)
		case x.method == http.MethodGet && strings.HasSuffix(x.path, "/events"):
			for i := range valueAt(x.answer, "/data").Len() {
				at := "/data/" + strconv.Itoa(i)
				x.set(at, string(change(valueAt(x.answer, at).Raw())))
			}
		}
	})
	streamed := o.frames(func(_, _ string, _ int, frame []byte) []byte {
		head, data, found := bytes.Cut(frame, []byte("\ndata: "))
		if !found || !bytes.HasPrefix(frame, []byte("id: ")) {
			return frame
		}
		return bytes.Join([][]byte{head, append(change(bytes.TrimSpace(data)), "\n\n"...)}, []byte("\ndata: "))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isStream(r.URL.Path) {
			streamed.ServeHTTP(w, r)
			return
		}
		changed.ServeHTTP(w, r)
	})
}

// tasks applies change to every response that consists of a single task.
func (o *honest) tasks(change func(x *exchanged)) http.Handler {
	return o.lies(nil, func(x *exchanged) {
		if x.status == http.StatusOK && (x.is("GET", "/v1/tasks/*") || x.is("POST", "/v1/tasks/*/cancel")) {
			change(x)
		}
	})
}

// seen stores the last non-empty string that was put under each name.
type seen struct {
	mu   sync.Mutex
	what map[string]string
}

// put stores a string under a name, and returns the previously stored string.
func (s *seen) put(name, text string) (before string, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.what == nil {
		s.what = map[string]string{}
	}
	before, known = s.what[name]
	s.what[name] = cmp.Or(text, before)
	return before, known
}

// lookInto reads the body of a request before the request is answered.
func (o *honest) lookInto(r *http.Request, look func(body []byte)) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		look(body)
	}
	r.Body = conn.Whole(body)
}

// receiptOfATask runs a task and returns the ID of the receipt.
func (o *honest) receiptOfATask() string {
	workspace := textAt(o.again("GET", "/v1/workspaces", nil).Body.Bytes(), "/data/0/id")
	session := textAt(o.again("POST", "/v1/sessions", []byte(`{"workspace_id":"`+workspace+`"}`)).Body.Bytes(), "/id")
	task := textAt(o.again("POST", "/v1/sessions/"+session+"/tasks", []byte(`{"input":{"text":"before all others"}}`)).Body.Bytes(), "/id")
	for {
		if id := textAt(o.again("GET", "/v1/tasks/"+task, nil).Body.Bytes(), "/receipt_id"); id != "" {
			return id
		}
		time.Sleep(time.Millisecond)
	}
}
