// Package conformance checks whether a harness meets the requirements of the Harn Agents Protocol
// v1. It does not trust the server's responses.
//
//	func TestConformance(t *testing.T) {
//		server := httptest.NewServer(handler)
//		defer server.Close()
//		report, err := conformance.Run(t.Context(), conformance.Target{URL: server.URL},
//			conformance.Options{Trust: keys, Now: time.Now, Random: rand.Reader})
//		if err = errors.Join(err, report.Err()); err != nil {
//			t.Error(err)
//		}
//	}
//
// There are two suites. [Upstream] contains the 26 probes of the protocol's own runner, with the
// same categories and the same report. [Ours] goes further. It verifies the bytes of a receipt with
// the keys that the caller trusts, and compares the result with the server's verdict. It compares
// streams, lists, retries, and replays with each other. It requests every route without a key, with
// other keys, and without the version. It validates every answer and event against its schema, and
// reads back everything that it posts. The documentation and the command list all [Probes], with
// their names and the sentences of the protocol that they check.
//
// # Failures
//
// A failure states the request, the expected result, the actual result, and the relevant sentence
// of the protocol with its source. Text from the server is quoted and truncated. Errors, notes, and
// reports never contain the API key, a part of the API key, or a secret that a probe generated.
//
// # Resources that a run creates
//
// A run creates sessions, messages, artifacts, and a few dozen tasks whose input is one sentence.
// It also requests replays of some of these tasks. All these resources contain the ID of the run.
// Run it only against a server on which such resources may be created.
//
// # Protection against the server
//
// A probe can only pass, be skipped, or fail, regardless of what the server sends. A probe reads at
// most 16 MiB of a response, and at most 32 MiB of a stream or a list. Each request ends within
// [Options].Timeout and each probe within eight times that. Lists are read for at most 500 pages.
// The client does not follow redirects, decompress responses, or keep cookies.
//
// Callers supply the clock and the source of randomness, but time limits are measured with the
// system clock. The API may still change.
package conformance
