// Package task says what package engine makes a run of package stream do. Nobody else can,
// so that [stream.Options] have nothing of it.
package task

import "github.com/receiptkit/receiptkit/receipt/stream/join"

// A Task is one step of an engine. One of Leaf, Place, and Joined is given.
type Task struct {
	// Leaf is called for every document in the order of the input, which is only read for
	// its leaves. An error ends the run.
	Leaf func(join.Leaf) error

	// Place is called for every document that counts, in the order of the input, instead of
	// everything that package stream finds out of links and copies.
	Place func(*join.Record) error

	// Joined is what an engine found that joined receipts. Nothing is read.
	Joined *join.Result

	// Tree is what an engine found of all inputs, for a checkpoint over them. Nil: the tree
	// is that of the receipts that are read.
	Tree *join.Tree
}
