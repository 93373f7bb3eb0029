package serve

import (
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/receiptkit/receiptkit/canon"
)

// RouteTable returns the routes as docs/http.md lists them: method and path, whether
// the version header is needed, whether a key is.
func RouteTable() (lines []string) {
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "no"
	}
	for _, r := range routes() {
		name := strings.TrimSpace(r.method + " " + r.pattern)
		if r.method == "" {
			name = "any " + r.pattern
		}
		lines = append(lines, "`"+name+"` "+yes(r.version)+" "+yes(r.key))
	}
	return lines
}

// FindRoute returns the pattern of the route of a request, "" for none, and what it
// needs.
func FindRoute(method, path string) (pattern string, version, key bool, params []string) {
	m := (&router{routes()}).find(method, path)
	if m.route == nil {
		return "", false, false, nil
	}
	return m.route.pattern, m.route.version, m.route.key, m.route.params
}

// Routes returns method and pattern of each route.
func Routes() (list [][2]string) {
	for _, r := range routes() {
		list = append(list, [2]string{r.method, r.pattern})
	}
	return list
}

// Entries returns the entries of a file of API keys.
func (k *APIKeys) Entries() []APIKey { return k.entries }

// OnceAmong has n at once want what is done once, and returns how many did it. What it
// takes fails as often as is said, and then the next may do it.
func OnceAmong(n, fails int) (did int) {
	var m idempotency
	var among sync.WaitGroup
	var mu sync.Mutex
	atWork := 0
	for range n {
		among.Go(func() {
			for {
				use, answer, wait, _ := m.claim([32]byte{}, canon.Digest{1}, canon.Digest{2}, time.Time{})
				if answer != nil {
					return
				}
				if wait != nil { // who comes anew, and does not wait
					runtime.Gosched()
					continue
				}

				mu.Lock()
				did++
				if atWork++; atWork == 1 && did > fails {
					answer = []byte("done")
				}
				mu.Unlock()
				runtime.Gosched()
				mu.Lock()
				atWork--
				mu.Unlock()
				m.settle([32]byte{}, use, answer, time.Time{})
			}
		})
	}
	among.Wait()
	return did
}
