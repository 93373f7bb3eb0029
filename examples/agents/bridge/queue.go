package bridge

import "sync"

// A queue holds lines that are not written yet.
type queue struct {
	mu    sync.Mutex
	lines [][]byte
	bytes int // of lines, and of what is being written
	ended bool
	wake  chan struct{}
}

func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

func (q *queue) put(line []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.lines, q.bytes = append(q.lines, line), q.bytes+len(line)
	q.signal()
}

// end says that nothing more comes.
func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.signal()
}

func (q *queue) written(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= n
}

// take waits for a line. more is false after the last one.
func (q *queue) take() (line []byte, more bool) {
	for {
		q.mu.Lock()
		if len(q.lines) > 0 {
			line, q.lines = q.lines[0], q.lines[1:]
			q.mu.Unlock()
			return line, true
		}
		ended := q.ended
		q.mu.Unlock()
		if ended {
			return nil, false
		}
		<-q.wake
	}
}

// signal wakes the one who takes. q.mu is held.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
