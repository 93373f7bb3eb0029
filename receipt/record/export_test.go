package record

// KindNames are the names of the kinds of the table.
func KindNames() (names []string) {
	for _, k := range eventKinds() {
		names = append(names, k.Event)
	}
	return names
}
