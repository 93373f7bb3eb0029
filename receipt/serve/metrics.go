package serve

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/receiptkit/receiptkit/receipt"
)

// meters are what is counted. No label comes from a request.
type meters struct {
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	verdicts *prometheus.CounterVec
	reloads  *prometheus.CounterVec
	inFlight prometheus.Gauge
	gatherer prometheus.Gatherer
}

func newMeters(registry *prometheus.Registry) (*meters, error) {
	m := &meters{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "receipt_http_requests_total",
			Help: "Requests answered, by method, route and status; status 0 was broken off before an answer."}, []string{"method", "route", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "receipt_http_request_duration_seconds",
			Help: "How long requests took, streams included.", Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10, 60, 600}}, []string{"route"}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "receipt_verdicts_total",
			Help: "Receipts judged, by scope and verdict."}, []string{"scope", "verdict"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "receipt_key_reloads_total",
			Help: "Attempts to read the files of keys again; a failed one keeps the old keys."}, []string{"result"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "receipt_http_requests_in_flight",
			Help: "Requests that are being answered."}),
		gatherer: registry,
	}

	// A registry that is shared may have these already: two servers would then count as one.
	for _, c := range []prometheus.Collector{m.requests, m.duration, m.verdicts, m.reloads, m.inFlight} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}

	for _, result := range []string{"ok", "failed"} { // a rule can ask for them before the first
		m.reloads.WithLabelValues(result)
	}
	return m, nil
}

func (m *meters) count(method, route string, status int, took time.Duration) {
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(route).Observe(took.Seconds())
}

// judged counts the verdicts of one scope.
func (m *meters) judged(scope receipt.Scope) func(receipt.Verdict) {
	counters := map[receipt.Verdict]prometheus.Counter{}
	for _, v := range []receipt.Verdict{receipt.Undecided, receipt.Verified, receipt.Refuted} {
		counters[v] = m.verdicts.WithLabelValues(scope.String(), v.String())
	}
	return func(v receipt.Verdict) { counters[v].Inc() }
}

// getMetrics answers in the text format of Prometheus.
func getMetrics(c *call) error {
	o := promhttp.HandlerOpts{DisableCompression: true, ErrorHandling: promhttp.HTTPErrorOnError}
	promhttp.HandlerFor(c.s.meters.gatherer, o).ServeHTTP(c.w, c.r)
	return nil
}
