// Package stated reads what the text of a stored receipt says of itself. A source finds
// receipts by it, and the server compares it with what was asked for: one reading for both.
package stated
