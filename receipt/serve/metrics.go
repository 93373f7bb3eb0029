package serve

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/receiptkit/receiptkit/receipt"
	"github.com/receiptkit/receiptkit/receipt/protocol"
)

// A family consists of metrics with the same name and different labels.
type family struct {
	name, kind, help string
	set              *metrics.Set
}

func newFamily(name, kind, help string) family {
	return family{name, kind, help, metrics.NewSet()}
}

// labeled returns the name of a metric with the given labels: name, value, name, value, …
func (f *family) labeled(labels []string) string {
	var pairs []string
	for i := 0; i < len(labels); i += 2 {
		pairs = append(pairs, labels[i]+"="+strconv.Quote(labels[i+1]))
	}
	return f.name + "{" + strings.Join(pairs, ",") + "}"
}

func (f *family) counter(labels ...string) *metrics.Counter {
	return f.set.GetOrCreateCounter(f.labeled(labels))
}

func (f *family) histogram(bounds []float64, labels ...string) *metrics.PrometheusHistogram {
	return f.set.GetOrCreatePrometheusHistogramExt(f.labeled(labels), bounds)
}

// write appends the metrics of the family to b, or nothing if there are none.
func (f *family) write(b *bytes.Buffer) {
	if len(f.set.ListMetricNames()) > 0 {
		fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		f.set.WritePrometheus(b)
	}
}

// meters contains the metrics of a server. No label contains a value from a request.
type meters struct {
	requests, duration, verdicts, reloads, running family
	inFlight                                       *metrics.Gauge
}

func newMeters() *meters {
	m := &meters{
		requests: newFamily("receipt_http_requests_total", "counter", "Requests by method, route, and status. Status 0 is a request that ended before an answer."),
		duration: newFamily("receipt_http_request_duration_seconds", "histogram", "Duration of requests, including streams."),
		verdicts: newFamily("receipt_verdicts_total", "counter", "Judged receipts by scope and verdict."),
		reloads:  newFamily("receipt_key_reloads_total", "counter", "Attempts to reload the key files. A failed attempt keeps the old keys."),
		running:  newFamily("receipt_http_requests_in_flight", "gauge", "Requests that are being answered."),
	}
	m.inFlight = m.running.set.NewGauge(m.running.name, nil)
	for _, result := range []string{"ok", "failed"} { // created in advance, so that alerting rules can query them before the first attempt
		m.reloads.counter("result", result)
	}
	return m
}

// count counts a request that has been answered.
func (m *meters) count(method, route string, status int, took time.Duration) {
	m.requests.counter("method", method, "route", route, "status", strconv.Itoa(status)).Inc()
	m.duration.histogram([]float64{.001, .005, .025, .1, .5, 2.5, 10, 60, 600}, "route", route).Update(took.Seconds())
}

// methodOf returns the method of a request, or "other" for an unusual method, because a client may
// choose any name.
func methodOf(r *protocol.Request) string {
	switch m := r.Method; m {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT":
		return m
	}
	return "other"
}

// reloaded counts an attempt to reload the keys.
func (m *meters) reloaded(result string) { m.reloads.counter("result", result).Inc() }

// judged returns a function that counts verdicts for the given scope.
func (m *meters) judged(scope receipt.Scope) func(receipt.Verdict) {
	counters := map[receipt.Verdict]*metrics.Counter{}
	for _, v := range []receipt.Verdict{receipt.Undecided, receipt.Verified, receipt.Refuted} {
		counters[v] = m.verdicts.counter("scope", scope.String(), "verdict", v.String())
	}
	return func(v receipt.Verdict) { counters[v].Inc() }
}

// getMetrics responds with all metrics in the Prometheus text format, version 0.0.4.
func getMetrics(c *call) error {
	m := c.s.meters
	var b bytes.Buffer
	for _, f := range []*family{&m.duration, &m.running, &m.requests, &m.reloads, &m.verdicts} {
		f.write(&b)
	}
	return c.send(http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", b.Bytes())
}
