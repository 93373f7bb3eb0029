package protocol

// Entries returns the entries of a file of API keys.
func (k *APIKeys) Entries() []APIKey { return k.entries }
