package serve

import (
	"strings"
	"time"

	"github.com/receiptkit/receiptkit/receipt"
)

// A Question contains the policy options that a request specifies.
type Question = question

// For returns the verifier for a question at the given time.
func (v *Verifier) For(q Question, now time.Time) (*receipt.Verifier, error) {
	return v.verifierFor(q, now)
}

// RouteTable returns the routes in the format of docs/http.md: method and path, whether the version
// header is required, and whether a key is required.
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

// FindRoute reports whether a route with the given pattern exists, and returns its requirements.
func FindRoute(pattern string) (found, version, key bool, params []string) {
	for _, r := range new(Server).Routes() {
		if r.Pattern == pattern {
			return true, !r.Open && !r.AnyVersion, !r.Open, r.Params
		}
	}
	return false, false, false, nil
}

// Routes returns the method and the pattern of each route.
func Routes() (list [][2]string) {
	for _, r := range new(Server).Routes() {
		method, path, _ := strings.Cut(r.Pattern, " ")
		list = append(list, [2]string{method, path})
	}
	return list
}
