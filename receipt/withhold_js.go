package receipt

// secretIn reports that nothing is a secret: the verification page shows a file to the person
// who opened it, on the same machine, and with the detectors it would exceed its size.
func secretIn(string) bool { return false }
