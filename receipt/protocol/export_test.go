package protocol

// Entries returns the entries of a file of API keys.
func (k *APIKeys) Entries() []APIKey { return k.entries }

// Client returns the client that has the key.
func (k *APIKey) Client() *Client { return k.client() }

// SetStreams sets how many streams of events may be open at the same time.
func (m *Mux) SetStreams(n int64) { m.streams = NewShares(n) }

// Actors returns of how many actors a Memory has something.
func (m *Memory) Actors() int { return len(m.actors) }

// Bytes returns how much a Memory says that it takes.
func (m *Memory) Bytes() int64 { return m.bytes }
