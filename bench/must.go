package main

// Bounds of the lines about verification and the command.
const (
	leastFull       = 16  // × naive, with signatures
	leastSmall      = 10  // × naive, receipts of 3 KB with signatures
	leastCheckpoint = 40  // × naive, receipts of 1.3 KB under a checkpoint
	leastJobs       = 1.8 // two jobs on two cores, × one on one core

	mostStart  = 10   // ms of processor time for one receipt
	mostMemory = 64   // MiB for the corpus
	mostNDJSON = 1.12 // × text
	mostOfForm = 1.15 // × text, if every report is printed; text prints nothing for a verified receipt
	mostOfRows = 1.25 // × text, for the table, whose rows also contain data of the receipt
)

// A stopped value is what a measurement panics with at its first error. As in a test, nothing is
// measured after that.
type stopped struct{ error }

// check ends the measurement unless err is nil.
func check(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// must returns the value unless err ends the measurement.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// caught runs f, and returns the error that ended the measurement, if any.
func caught(f func()) (err error) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case stopped:
			err = end.error
		default:
			panic(end)
		}
	}()
	f()
	return nil
}
