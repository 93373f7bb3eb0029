package serve_test

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestSourceLies verifies the behavior if a source returns the wrong receipt for every request,
// including one whose ID differs only in case. No route may serve the wrong receipt or report that
// it is valid.
func TestSourceLies(t *testing.T) {
	ids := []string{"r_5", "r_7", "r_10", "r_14", "R_14", "r_1\u0034\u200b"}
	texts := map[string][]byte{}
	for _, id := range ids {
		texts[id] = signedReceipt(t, receiptDraft(id, "task_of_"+id))
	}
	texts["damaged"] = bytes.Replace(texts["r_5"], []byte(`"USD"`), []byte(`"EUR",`), 1) // not JSON, but its ID can be read
	texts["nothing"] = []byte(`{"receipt_id":`)
	texts["no object"] = []byte(`["r_5"]`)
	texts["enveloped"] = fmt.Appendf(nil, `{"wire":{"payload":%s}}`, texts["r_10"])
	for _, asked := range ids {
		for name, given := range texts {
			s := newShelf()
			s.put("task_of_"+asked, asked, given)
			o := options(t)
			o.Source = s
			h := start(t, o)
			path := "/v1/receipts/" + url.PathEscape(asked)
			honest := name == asked
			for _, got := range []reply{
				h.get(path, version()...),
				h.get(path, append(version(), "Accept", "application/vnd.harn.receipt+cbor")...),
				h.do("POST", path+"/verify", nil, version()...),
				h.get("/v1/tasks/task_of_"+url.PathEscape(asked)+"/receipts", version()...),
			} {
				about := asked == "r_5" && name == "damaged" // refuted, but it is the requested receipt
				if honest && got.status != 200 || !honest && !about && got.status != 500 {
					t.Errorf("%s, given %s: %d %.300s", asked, name, got.status, got.body)
				}
				if !honest && (bytes.Contains(got.body, []byte(`"valid":true`)) || bytes.Contains(got.body, []byte("SUCCEEDED")) || bytes.Contains(got.body, []byte("signatures")) && !about) {
					t.Errorf("%s, given %s: %.300s", asked, name, got.body)
				}
			}
			if honest {
				got := h.do("POST", path+"/verify", nil, version()...)
				if got.object(t)["valid"] != true || !strings.Contains(string(got.body), `"receipt_id":`) {
					t.Errorf("%s: %s", asked, got.body)
				}
			}
		}
	}
}
