package secret

// A Span is a secret in a text: the bytes from Start to before End, found by the
// detector with that index.
type Span struct {
	Start, End int
	Detector   int
}

// merge appends the finds of earlier detectors and of one more to list. Where
// they overlap, the later ones lengthen the earlier ones or are dropped.
func merge(list, earlier, later []Span, lengthen bool) []Span {
	i := 0
	for _, l := range later {
		for i < len(earlier) && earlier[i].End <= l.Start {
			list = append(list, earlier[i])
			i++
		}

		// It overlaps nothing that was found before.
		if i == len(earlier) || earlier[i].Start >= l.End {
			list = append(list, l)
			continue
		}
		if !lengthen {
			continue
		}

		// What overlaps is one secret, as long as all of them and named by the earliest.
		for i < len(earlier) && earlier[i].Start < l.End {
			e := earlier[i]
			l = Span{min(l.Start, e.Start), max(l.End, e.End), min(l.Detector, e.Detector)}
			i++
		}
		i--
		earlier[i] = l // which the next one may overlap, too
	}

	return append(list, earlier[i:]...)
}
