package main

import (
	"encoding/json"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/internal/join"
	"github.com/receiptkit/receiptkit/receipt/stream"
	"github.com/receiptkit/receiptkit/scale/terms"
)

// A setting is the configuration of a run, in the form that workers receive. It is sent as bytes,
// because receipts are the only files that workers read.
type setting struct {
	Asked   terms.Terms     `json:"asked"`
	Long    bool            `json:"long"`
	Partial bool            `json:"partial"`
	After   []streamHead    `json:"after"`
	Expect  []streamHead    `json:"expect"`
	Only    only            `json:"only"`
	Log     []byte          `json:"log,omitzero"` // the checkpoint that covers all receipts
	Outlet  *outlet         `json:"outlet"`
	Share   int             `json:"share"`  // number of inputs in a share
	Shares  int             `json:"shares"` // number of shares
	Skipped []stream.Notice `json:"skipped"`
	Others  int             `json:"others"`  // number of all skipped files
	Started int64           `json:"started"` // milliseconds since 1970
}

// A streamHead is the head of a stream.
type streamHead struct {
	Stream chain.Stream
	Head   chain.Head
}

func listHeads(heads map[chain.Stream]chain.Head) (list []streamHead) {
	for s, h := range heads {
		list = append(list, streamHead{s, h})
	}
	return list
}

func mapHeads(list []streamHead) map[chain.Stream]chain.Head {
	heads := map[chain.Stream]chain.Head{}
	for _, h := range list {
		heads[h.Stream] = h.Head
	}
	return heads
}

// settingOf decodes a setting.
func settingOf(text []byte) (s setting, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("the settings of the run: %w", err)
	}
	return s, nil
}

// An only specifies the predecessor and the head of an input that contains a single stream.
type only struct {
	Previous, Head canon.Digest
	Count          *uint64
}

// readings returns how many times each input is read.
func (s *setting) readings() int {
	if s.Log != nil {
		return 3
	}
	return 2
}

// options returns the heads that the input must continue and the heads with which it must end.
func (s *setting) options() stream.Options {
	o := stream.Options{Long: s.Long, Partial: s.Partial, Checkpoint: s.Log}
	o.Continuity.Previous, o.Continuity.Head, o.Continuity.Count = s.Only.Previous, s.Only.Head, s.Only.Count
	if len(s.After) > 0 {
		o.Continuity.After = mapHeads(s.After)
	}
	if len(s.Expect) > 0 {
		o.Continuity.Expect = mapHeads(s.Expect)
	}
	return o
}

// termsOf returns the terms for the groupings.
func termsOf(text []byte) (join.Terms, error) {
	s, err := settingOf(text)
	if err != nil {
		return join.Terms{}, err
	}
	o := s.options().Continuity
	return join.Terms{
		Partial: func(chain.Stream) bool { return s.Partial },
		Previous: func(s chain.Stream) canon.Digest {
			if h := o.After[s].Hash; !h.IsZero() {
				return h
			}
			return o.Previous
		},
		Head: func(s chain.Stream) canon.Digest {
			if h := o.Expect[s].Hash; !h.IsZero() {
				return h
			}
			return o.Head
		},
	}, nil
}
