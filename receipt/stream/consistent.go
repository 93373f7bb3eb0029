package stream

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/canon"
	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// checkConsistent makes sure that a summary that was read does not contradict itself: one
// part of it says what another denies when somebody wrote it by hand, or changed it.
func checkConsistent(s *Summary) error {
	switch {
	case s.Verified+s.Refuted+s.Undecided != s.Receipts || min(s.Verified, s.Refuted, s.Undecided, s.Copies) < 0:
		return errors.New("its counts do not add up")
	case s.SkippedCount < len(s.Skipped) || s.Inputs.Files < 0 || s.Inputs.Bytes < 0:
		return errors.New("its counts of inputs do not add up")
	case s.Complete && len(s.Inputs.Unreadable) > 0:
		return errors.New("it is complete, but lists what could not be read")
	}

	// One code explains each receipt that is not verified.
	explained := 0
	for code, n := range s.Codes {
		if explained += n; n <= 0 {
			return fmt.Errorf("it counts %.40q %d times", code, n)
		}
	}
	if explained != s.Refuted+s.Undecided {
		return errors.New("its codes are not of the receipts that are not verified")
	}

	if err := checkUnchecked(s); err != nil {
		return err
	}

	placed := uint64(0)
	for _, g := range s.Streams {
		if placed += g.Count; g.Failures.Count > 0 && s.Verdict() == receipt.Verified {
			return errors.New("it is verified, but counts failures of a stream")
		}
	}

	// A receipt that came under two signatures counts twice, and is one of its stream:
	// only a roster tells.
	distinct, err := checkRoster(s)
	if err == nil && s.Verdict() == receipt.Verified && placed < uint64(distinct) {
		err = errors.New("its streams have less receipts than are verified")
	}
	return err
}

// checkRoster compares the counts with the receipts that a summary remembers, and
// returns how many different ones these are; all that are verified without a roster.
func checkRoster(s *Summary) (distinct int, err error) {
	if s.roster == nil {
		return s.Verified, nil
	}
	if s.roster.documents() != s.Receipts+s.Copies {
		return 0, errors.New("its roster is not of the receipts that it counts")
	}

	known := map[chain.Stream]bool{}
	for _, stream := range s.roster.streams {
		known[stream] = true
	}
	for i := range s.Streams {
		if !known[s.Streams[i].Stream] {
			return 0, errors.New("its roster is of other streams than it lists")
		}
	}

	// A false hash refutes its receipt, and so does a link that fails.
	wrong, left, spare, contents := 0, 0, 0, map[canon.Digest]bool{}
	for i := range s.roster.sources {
		list, err := s.roster.sources[i].unpack(len(s.roster.streams))
		if err != nil {
			return 0, err
		}
		for k := range list {
			a := &list[k]
			if contents[a.link.Hash] = true; !a.holds() || a.own == receipt.Refuted || a.fault != nil && a.fault.counted().own == receipt.Refuted {
				wrong++
			}
			if a.fault != nil && !a.spare && a.fault.counted().own == receipt.Undecided {
				left++
			}
			if a.spare {
				spare++
			}
		}
	}

	if s.roster.outcomes && spare != s.Copies {
		return 0, errors.New("its roster has other copies than it counts")
	}
	if wrong > s.Refuted {
		return 0, errors.New("its roster has more receipts with faults than are refuted")
	}
	if s.roster.outcomes && left > s.Undecided {
		return 0, errors.New("its roster has more receipts whose links are open than are undecided")
	}
	return len(contents), nil
}
