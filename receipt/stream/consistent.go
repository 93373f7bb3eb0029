package stream

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/receipt"
)

// consistent makes sure that a summary that was read does not contradict itself: one
// part of it says what another denies when somebody wrote it by hand, or changed it.
func (s *Summary) consistent() error {
	switch {
	case s.Verified+s.Refuted+s.Undecided != s.Receipts || min(s.Verified, s.Refuted, s.Undecided, s.Copies) < 0:
		return errors.New("its counts do not add up")
	case s.SkippedCount < len(s.Skipped) || s.Inputs.Files < 0 || s.Inputs.Bytes < 0:
		return errors.New("its counts of inputs do not add up")
	case s.Complete && len(s.Inputs.Unreadable) > 0:
		return errors.New("it is complete, but lists what could not be read")
	}

	explained := 0
	for code, n := range s.Codes {
		if explained += n; n <= 0 {
			return fmt.Errorf("it counts %.40q %d times", code, n)
		}
	}

	if explained != s.Refuted+s.Undecided {
		return errors.New("its codes are not of the receipts that are not verified")
	}
	if s.Verdict() == receipt.Verified {
		placed := uint64(0)
		for _, g := range s.Streams {
			if placed += g.Count; g.Failures.Count > 0 {
				return errors.New("it is verified, but counts failures of a stream")
			}
		}
		if placed < uint64(s.Verified) {
			return errors.New("its streams have less receipts than are verified")
		}
	}

	return s.consistentRoster()
}

// consistentRoster compares the counts with the receipts that a summary remembers.
func (s *Summary) consistentRoster() error {
	if s.roster == nil {
		return nil
	}
	if s.roster.documents() != s.Receipts+s.Copies {
		return errors.New("its roster is not of the receipts that it counts")
	}

	wrong := 0
	for i := range s.roster.sources {
		list, err := s.roster.sources[i].unpack(len(s.roster.streams))
		if err != nil {
			return err
		}
		for k := range list {
			if a := &list[k]; !a.holds() || a.fault != nil && !a.fault.healed {
				wrong++
			}
		}
	}

	if wrong > s.Refuted {
		return errors.New("its roster has more receipts with faults than are refuted")
	}
	return nil
}
