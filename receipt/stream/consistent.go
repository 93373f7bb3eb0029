package stream

import (
	"errors"
	"fmt"

	"github.com/receiptkit/receiptkit/chain"
	"github.com/receiptkit/receiptkit/receipt"
)

// checkConsistent returns an error if a summary contradicts itself. Anyone can write or change a
// summary, so its parts may contradict each other.
func checkConsistent(s *Summary) error {
	switch {
	case s.Verified+s.Refuted+s.Undecided != s.Receipts || min(s.Verified, s.Refuted, s.Undecided, s.Copies) < 0:
		return errors.New("its counts do not add up")
	case s.SkippedCount < len(s.Skipped) || s.Inputs.Files < 0 || s.Inputs.Bytes < 0:
		return errors.New("its counts of inputs do not add up")
	case s.Complete && len(s.Inputs.Unreadable) > 0:
		return errors.New("it is complete, but lists inputs that could not be read")
	}

	// Each receipt that is not verified is counted under exactly one code.
	explained := 0
	for code, n := range s.Codes {
		if explained += n; n <= 0 {
			return fmt.Errorf("it counts %.40q %d times", code, n)
		}
	}
	if explained != s.Refuted+s.Undecided {
		return errors.New("its codes do not match the receipts that are not verified")
	}

	if err := checkUnchecked(s); err != nil {
		return err
	}

	placed := uint64(0)
	for _, g := range s.Streams {
		if placed += g.Count; g.Failures > 0 && s.Verdict() == receipt.Verified {
			return errors.New("it is verified, but counts failures of a stream")
		}
	}

	// A receipt with two different sets of signatures is counted twice, but only once in its
	// stream. Such receipts can be distinguished only with a roster.
	distinct, err := checkRoster(s)
	if err == nil && s.Verdict() == receipt.Verified && placed < uint64(distinct) {
		err = errors.New("its streams have fewer receipts than are verified")
	}
	return err
}

// checkRoster compares the counts in a summary with its roster. It returns the number of distinct
// receipts or, without a roster, the number of verified receipts.
func checkRoster(s *Summary) (distinct int, err error) {
	if s.roster == nil {
		return s.Verified, nil
	}
	if s.roster.Documents() != s.Receipts+s.Copies {
		return 0, errors.New("its roster does not match the counted receipts")
	}

	known := map[chain.Stream]bool{}
	for _, stream := range s.roster.Streams {
		known[stream] = true
	}
	for i := range s.Streams {
		if !known[s.Streams[i].Stream] {
			return 0, errors.New("its roster does not match the listed streams")
		}
	}

	t, err := s.roster.Tally()
	switch {
	case err != nil:
		return 0, err
	case s.roster.Outcomes && t.Spare != s.Copies:
		return 0, errors.New("its roster does not match the counted copies")
	case t.Refuted > s.Refuted:
		return 0, errors.New("its roster has more receipts with faults than are refuted")
	case s.roster.Outcomes && t.Open > s.Undecided:
		return 0, errors.New("its roster has more receipts with unchecked links than are undecided")
	}
	return t.Contents, nil
}

// checkUnchecked returns an error if a summary counts more unchecked documents than there are
// documents.
func checkUnchecked(s *Summary) error {
	for code, n := range s.Unchecked {
		if n <= 0 || n > s.Receipts+s.Copies {
			return fmt.Errorf("it leaves %.40q unchecked of %d documents", code, n)
		}
	}
	if s.Withheld < 0 || s.Withheld > 0 && len(s.Unchecked) == 0 {
		return fmt.Errorf("it counts %d withheld values", s.Withheld)
	}
	return nil
}
