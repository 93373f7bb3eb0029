package conformance

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// TestPercentiles verifies that the q-th percentile of n sorted durations is the duration at index
// n·q/100, or the last duration.
func TestPercentiles(t *testing.T) {
	hundred := make([]int64, 100)
	for i := range hundred {
		hundred[i] = int64(99 - i)
	}
	for _, test := range []struct {
		times []int64
		want  Percentiles
	}{
		{nil, Percentiles{}},
		{[]int64{7}, Percentiles{7, 7, 7, 7}},
		{[]int64{2, 1}, Percentiles{1, 2, 2, 2}},
		{[]int64{4, 1, 3}, Percentiles{2, 3, 4, 4}},
		{hundred, Percentiles{49, 50, 95, 99}},
	} {
		if got := percentilesOf(test.times); got != test.want {
			t.Errorf("%v: %+v, want %+v", test.times, got, test.want)
		}
	}
}

// TestSums verifies the counts and the status of each category and of the run.
func TestSums(t *testing.T) {
	var r Report
	for _, statuses := range [][]Status{{Passed, Skipped}, {Failed, Passed, Passed}, {Skipped}} {
		c := Category{Name: "x"}
		for _, status := range statuses {
			c.Tests = append(c.Tests, Test{Status: status, Rule: &Rule{}, DurationMS: 4})
		}
		r.add(c)
	}
	r.finish(3 * time.Second)
	want := Summary{Status: Failed, Score: 0.75, Passed: 3, Failed: 1, Skipped: 2, Total: 6, CategoriesPassed: 1, CategoriesFailed: 1, CategoriesSkipped: 1, DurationMS: 3000}
	if r.Summary != want || r.PercentilesMS != (Percentiles{4, 4, 4, 4}) {
		t.Errorf("%+v", r)
	}

	nothing := Report{}
	nothing.add(Category{Tests: []Test{{Status: Skipped}}})
	nothing.finish(0)
	if s := nothing.Summary; s.Status != Skipped || s.Score != 0 || nothing.Err() != nil {
		t.Errorf("%+v", s)
	}
	if (*Report)(nil).Err() != nil {
		t.Error("no report has an error")
	}
}

// TestUpstreamProbes verifies that the number of probes and the categories match those of the
// protocol's own runner.
func TestUpstreamProbes(t *testing.T) {
	count := map[string]int{}
	for _, p := range Probes() {
		if p.Rule.Text == "" || p.Rule.Where == "" || strings.HasSuffix(p.Rule.Text, ".") {
			t.Errorf("%s: %+v", p.Name, p.Rule)
		}
		if p.Suite == Upstream {
			count[p.Category]++
		}
	}
	want := []string{"core 10", "streaming 2", "lifecycle 2", "idempotency 2", "auth-and-scopes 3", "replay 2", "receipts 2", "vaults 1", "outcomes 1", "webhooks 1"}
	var got []string
	for _, name := range Categories(Upstream) {
		got = append(got, name+" "+strconv.Itoa(count[name]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestOrder verifies that categories run once and in the requested order. Probes for features that
// discovery did not advertise must be skipped, and skipping must not count as a failure.
func TestOrder(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	o := testOptions()
	o.Categories = []string{"receipts", "replay", "receipts"}
	report, err := Run(t.Context(), Target{URL: server.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range report.Categories {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"receipts", "replay"}) || report.Summary.Status != Skipped || report.Summary.Skipped != 4 {
		t.Errorf("%q, %+v", names, report.Summary)
	}
}

// TestReportForm verifies that the report contains exactly the members of the protocol's own report
// and the documented additional members.
func TestReportForm(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := protocol.NewDiscovery("rest")
		d.Capabilities["x"] = true
		protocol.WriteJSON(w, http.StatusOK, d)
	}))
	defer server.Close()
	o := Options{Timeout: 20 * time.Second, Now: func() time.Time { return time.Unix(1777144574, 0) }, Random: rand.Reader, Categories: []string{"core"}}
	report, err := Run(t.Context(), Target{URL: server.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var form struct {
		Schema, Target string
		Protocol       string `json:"protocol_version"`
		Generated      string `json:"generated_at"`
		Summary        map[string]any
		Percentiles    map[string]any `json:"percentiles_ms"`
		Capabilities   map[string]bool
		Categories     []map[string]any
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&form); err != nil {
		t.Fatal(err)
	}
	if form.Schema != "harn-agents-conformance-2026-04-25" || form.Target != server.URL+"/" || form.Protocol != protocol.Version || form.Generated != "2026-04-25T19:16:14Z" ||
		len(form.Summary) != 10 || len(form.Percentiles) != 4 || !form.Capabilities["rest"] || form.Capabilities["replay"] || len(form.Categories) != 1 {
		t.Errorf("%s", text)
	}
	first := report.Categories[0].Tests[0]
	if first.Name != "discovery" || first.Status != Passed || first.Rule != nil {
		t.Errorf("%+v", first)
	}
	for _, test := range report.Categories[0].Tests[1:] {
		if test.Status != Failed || test.Rule == nil || test.Error == "" {
			t.Errorf("%+v", test)
		}
	}
}
