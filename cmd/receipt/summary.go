package main

import (
	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// A summary is one verdict over all receipts of a run. Its JSON form is fixed by
// the schema "summary".
type summary struct {
	Version   int                  `json:"report_version"`
	Verdict   receipt.Verdict      `json:"verdict"`
	Scope     receipt.Scope        `json:"scope"`
	Complete  bool                 `json:"complete"`
	Receipts  int                  `json:"receipts"`
	Verified  int                  `json:"verified"`
	Refuted   int                  `json:"refuted"`
	Undecided int                  `json:"undecided"`
	Codes     map[receipt.Code]int `json:"codes"`
	Copies    int                  `json:"copies"`
	Skipped   []notice             `json:"skipped"`
	Streams   []streamEnd          `json:"streams"`
	Inputs    inputs               `json:"inputs"`
	Keys      *keysUsed            `json:"keys"`
	Tool      string               `json:"tool"`
	Started   receipt.Time         `json:"started"`
	Finished  receipt.Time         `json:"finished"`

	ends   map[chain.Stream][]streamEnd
	unread int // inputs behind the receipt at which --fail-fast stopped
}

type notice struct {
	Source string `json:"source"`
	Detail string `json:"detail"`
}

type inputs struct {
	Files      int      `json:"files"`
	Bytes      int64    `json:"bytes"`
	Unreadable []notice `json:"unreadable"`
}

type keysUsed struct {
	Path   string       `json:"path"`
	SHA256 canon.Digest `json:"sha256"`
	Count  int          `json:"count"`
}

// A streamEnd says where a stream ends in the input.
type streamEnd struct {
	Stream        streamName    `json:"stream"`
	Count         int           `json:"count"`
	FirstPrevious *canon.Digest `json:"first_previous"`
	Head          canon.Digest  `json:"head"`
	Failures      int           `json:"failures"`
}

type streamName struct {
	Issuer    string  `json:"issuer"`
	Tenant    *string `json:"tenant"`
	Workspace string  `json:"workspace"`
}

func newSummary(e *env, scope receipt.Scope, file *keyFile) *summary {
	s := &summary{
		Version: receipt.ReportVersion, Scope: scope, Codes: map[receipt.Code]int{},
		Skipped: []notice{}, Streams: []streamEnd{}, Inputs: inputs{Unreadable: []notice{}},
		Tool: toolName(), Started: receipt.At(e.now()), ends: map[chain.Stream][]streamEnd{},
	}
	if file != nil {
		s.Keys = &keysUsed{file.path, file.sha256, file.set.Len()}
	}
	return s
}

// add counts one report.
func (s *summary) add(rep *receipt.Report, doc *canon.Document) {
	s.Receipts++
	switch rep.Verdict {
	case receipt.Verified:
		s.Verified++
	case receipt.Refuted:
		s.Refuted++
	default:
		s.Undecided++
	}
	if rep.Verdict != receipt.Verified {
		s.Codes[rep.Finding().Code]++
	}
	if link, ok := chain.LinkOf(doc); ok && rep.Verdict != receipt.Refuted {
		s.end(chain.StreamOf(doc), link)
	}
}

func (s *summary) end(stream chain.Stream, link chain.Link) {
	end := streamEnd{Stream: streamName{Issuer: stream.Issuer, Workspace: stream.Workspace}, Count: 1, Head: link.Hash}
	if stream.HasTenant {
		end.Stream.Tenant = &stream.Tenant
	}
	if !link.First {
		end.FirstPrevious = &link.Previous
	}
	s.ends[stream] = append(s.ends[stream], end)
}

// finish draws the conclusion. A stream is named when it has a single receipt:
// how several join is not looked at.
func (s *summary) finish(e *env) {
	for _, ends := range s.ends {
		if len(ends) == 1 {
			s.Streams = append(s.Streams, ends[0])
		}
	}
	sortStreams(s.Streams)
	s.Complete = len(s.Inputs.Unreadable) == 0 && s.unread == 0
	s.Finished = receipt.At(e.now())
	switch {
	case s.Refuted > 0:
		s.Verdict = receipt.Refuted
	case s.Complete && s.Receipts > 0 && s.Verified == s.Receipts:
		s.Verdict = receipt.Verified
	default:
		s.Verdict = receipt.Undecided
	}
}

// exit is the exit code of the run. Success has one way only.
func (s *summary) exit() int {
	switch {
	case s.Refuted > 0:
		return exitRefuted
	case len(s.Inputs.Unreadable) > 0 || s.Receipts == 0:
		return exitUsage
	}
	return verdictExit(s.Verdict)
}
