// Package conformance asks a harness of the Harn Agents Protocol v1 whether it does what the
// protocol says, and believes nothing that it answers.
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
// There are two suites. [Upstream] has the 26 probes of the protocol's own runner, category
// by category, with its report. [Ours] begins where that ends: a receipt is verified by its
// bytes, by the keys that the caller trusts; what the server says of it is compared with
// that; streams, lists, retries and replays are held against each other. Every route is
// requested without a key, with other keys, and without the version; every answer and event is
// compared with its schema; and everything that is posted is read back. Docs and command
// print [Probes], which names each of them and the sentence of the protocol that it is for.
//
// # What a failure says
//
// Which request, what was expected, what was found; then the sentence and where it stands.
// What a server wrote is quoted and cut. No error, note or report has the API key or a part
// of it, nor a secret that a probe made up.
//
// # What a probe leaves behind
//
// A run makes sessions, messages, artifacts and a few dozen tasks of one sentence, and asks
// for replays of some of them. All of it is named after the run. It is meant for a server on
// which that may be done.
//
// # What a server can do to its caller
//
// Fail. Answers are read up to 16 MiB, streams and lists up to 32 MiB, each request within
// [Options].Timeout and each probe within eight of them; lists are read for at most 500
// pages. No redirect is followed, nothing is decompressed, no cookie is kept.
//
// Clock and randomness are parameters, but for the deadlines of connections. The exported
// names may still change.
package conformance
