package harness_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/receiptkit/receiptkit/fixtures/testsize"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// TestEndedWithReceipt verifies that a task that has ended is never returned without its receipt,
// even if it ends while it is being requested.
func TestEndedWithReceipt(t *testing.T) {
	h, c := start(t, options(t, t.TempDir()))
	c.begin()
	handler := h.Handler()
	for range testsize.Of(150, 400) {
		task := c.submit("look")
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for {
					r := httptest.NewRequest(http.MethodGet, "/v1/tasks/"+task, nil)
					r.Header.Set(protocol.VersionHeader, protocol.Version)
					w := httptest.NewRecorder()
					handler.ServeHTTP(w, r)
					text := w.Body.String()
					if w.Code != http.StatusOK || strings.Contains(text, `"COMPLETED"`) && strings.Contains(text, `"receipt_id":null`) {
						t.Errorf("%d: %s", w.Code, text)
					}
					if w.Code != http.StatusOK || strings.Contains(text, `"COMPLETED"`) {
						return
					}
				}
			})
		}
		readers.Wait()
	}
}
