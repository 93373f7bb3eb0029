package serve

import (
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// A Question is the part of the policy that a request specifies.
type Question = question

// For returns the verifier for a question at a time.
func (v *Verifier) For(q Question, now time.Time) (*receipt.Verifier, error) {
	return v.verifierFor(q, now)
}

// RouteTable returns the routes as docs/http.md lists them: method and path, whether
// the version header is needed, whether a key is.
func RouteTable() (lines []string) {
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "no"
	}
	for _, r := range new(Server).Routes() {
		lines = append(lines, "`"+r.Pattern+"` "+yes(!r.Open && !r.AnyVersion)+" "+yes(!r.Open))
	}
	return lines
}

// FindRoute returns the requirements of the route with a pattern, and whether the route exists.
func FindRoute(pattern string) (found, version, key bool, params []string) {
	for _, r := range new(Server).Routes() {
		if r.Pattern == pattern {
			return true, !r.Open && !r.AnyVersion, !r.Open, r.Params
		}
	}
	return false, false, false, nil
}

// Routes returns method and pattern of each route.
func Routes() (list [][2]string) {
	for _, r := range new(Server).Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		list = append(list, [2]string{method, path})
	}
	return list
}
