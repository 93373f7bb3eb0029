package redact

// Naive scans a text with each detector alone, and no automaton.
func Naive(s *Scanner, detectors []Detector, text []byte) []Span { return naive(s, detectors, text) }
