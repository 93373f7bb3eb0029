package harness

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// TestMembers verifies that members of a request body must have exactly the specified names, and
// that errors name the member.
func TestMembers(t *testing.T) {
	m, err := protocol.NewMux(protocol.Options{Public: true, Now: time.Now, Random: rand.Reader, Routes: []protocol.Route{{Pattern: "POST /v1/plants", Serve: func(w http.ResponseWriter, r *protocol.Request) error {
		name, err := requiredText(r, "name")
		if err != nil {
			return err
		}
		note, err := textMember(r, "note")
		if err != nil {
			return err
		}
		more, err := objectMember(r, "more")
		if err != nil {
			return err
		}
		return protocol.WriteJSON(w, http.StatusCreated, fmt.Sprintf("%s|%s|%s|%t", name, note, more, more == nil))
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"name":"bean"}`: `"bean|||true"`,
		`{"name":"bean","note":"\u00e9","more":{"n":1.50}}`: `"bean|é|{\"n\":1.50}|false"`,
		`{"name":"bean","note":null,"more":null}`:           `"bean|||true"`,
		`{"Name":"bean"}`:            "name",
		`{"name":""}`:                "name",
		`{"name":1}`:                 "name",
		`{"name":"bean","note":[]}`:  "note",
		`{"name":"bean","more":"m"}`: "more",
	} {
		r := httptest.NewRequest("POST", "/v1/plants", strings.NewReader(body))
		r.Header.Set(protocol.VersionHeader, protocol.Version)
		r.Header.Set("Content-Type", protocol.MediaJSON)
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		status, text := w.Code, w.Body.String()
		if strings.HasPrefix(want, `"`) && text != want+"\n" || !strings.HasPrefix(want, `"`) && (status != 400 || !strings.Contains(text, `"param":"`+want+`"`)) {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
}
