package corpus

import "runtime"

// ordered applies f concurrently to the values from in, and returns the results in the order of the
// input. It ends when in ends, and must be read to its end.
func ordered[In, Out any](in <-chan In, f func(In) Out) <-chan Out {
	pending := make(chan chan Out, runtime.GOMAXPROCS(0)) // limits the number of values in progress
	go func() {
		defer close(pending)
		for x := range in {
			result := make(chan Out, 1)
			pending <- result
			go func() { result <- f(x) }()
		}
	}()
	out := make(chan Out)
	go func() {
		defer close(out)
		for result := range pending {
			out <- <-result
		}
	}()
	return out
}
