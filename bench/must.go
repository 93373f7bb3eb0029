package main

// A stopped is the value with which a measurement panics at its first error. As in a test, nothing
// is measured after that.
type stopped struct{ error }

// check ends the measurement unless err is nil.
func check(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// must returns the value, unless an error ends the measurement.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// caught returns the error that ended what f measured.
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
