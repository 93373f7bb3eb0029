package store_test

import (
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/receiptkit/receiptkit/log/client"
	"github.com/receiptkit/receiptkit/merkle/tlog"
)

// BenchmarkWitnessed measures the time from a request to add a hash until its cosigned proof has
// been verified, with 256 clients.
func BenchmarkWitnessed(b *testing.B) {
	c := newConfig(b, b.TempDir(), "k")
	w := startWitness(b, c.Key)
	c.Policy = tlog.Policy{Witnesses: []tlog.PolicyWitness{w}, Quorum: &tlog.Group{Threshold: 1, Witnesses: []*tlog.Witness{w.Witness}}}
	l := open(b, c)
	defer closeLog(b, l)
	server := httptest.NewServer(l.Handler(""))
	defer server.Close()
	remote := &client.Log{URL: server.URL, Policy: policyOf(c)}

	var mu sync.Mutex
	var took []time.Duration
	next := make(chan int)
	var clients sync.WaitGroup
	for range 256 {
		clients.Go(func() {
			for i := range next {
				began := time.Now()
				if _, _, err := remote.Add(b.Context(), hashOf(i)); err != nil {
					b.Error(err)
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	b.ResetTimer()
	for i := range b.N {
		next <- i
	}
	close(next)
	clients.Wait()
	b.StopTimer()

	slices.Sort(took)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "receipts/s")
	b.ReportMetric(took[len(took)/2].Seconds(), "median-s")
	b.ReportMetric(took[len(took)*99/100].Seconds(), "p99-s")
}
