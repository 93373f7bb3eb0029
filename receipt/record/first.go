package record

// first sets what is not set yet.
func first[T comparable](have *T, value T) {
	var zero T
	if *have == zero {
		*have = value
	}
}

// named sets a name that is not set yet, and reports whether it has another.
func named(have *string, name string) bool {
	first(have, name)
	return name != "" && name != *have
}

// last sets what is said anew.
func last[T comparable](have *T, value T) {
	var zero T
	if value != zero {
		*have = value
	}
}
