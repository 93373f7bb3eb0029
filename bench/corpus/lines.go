package main

// lines is JSON Lines: a receipt and a newline each.
type lines struct{ *part }

func newLines(path string) (sink, error) {
	p, err := newPart(path)
	if err != nil {
		return nil, err
	}
	return lines{p}, nil
}

func (l lines) put(_ int, text []byte) error {
	l.Write(text)
	return l.WriteByte('\n') // an error of bufio stays
}
