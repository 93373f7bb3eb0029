package merkle_test

import (
	"fmt"

	"github.com/receiptkit/receiptkit/merkle"
)

// leaves returns the leaf hashes for a list of log entries.
func leaves(data ...string) (list []merkle.Hash) {
	for _, text := range data {
		list = append(list, merkle.LeafHash([]byte(text)))
	}
	return list
}

// A root commits to all leaves and to their number. A Tree computes the root incrementally.
func ExampleTree() {
	var tree merkle.Tree
	for _, leaf := range leaves("april", "may", "june") {
		tree.Append(leaf)
	}

	fmt.Println(tree.Size(), tree.Root())
	fmt.Println(tree.Root() == merkle.Root(leaves("april", "may", "june")))
	fmt.Println(tree.Root() == merkle.Root(leaves("april", "may", "june", "june")))
	// Output:
	// 3 yyssKzA6CMtyWROw9gL+9L+7lPayYw9gpz6I2QALYKs=
	// true
	// false
}

// A client that has only a root can verify that a leaf is in the tree.
func ExampleCheckInclusion() {
	list := leaves("april", "may", "june", "july", "august")
	root := merkle.Root(list)

	proof, err := merkle.ProveInclusion(list, 2)
	if err != nil {
		fmt.Println(err)
		return
	}

	fmt.Println("hashes:", len(proof))
	fmt.Println("june:", merkle.CheckInclusion(merkle.LeafHash([]byte("june")), 2, 5, proof, root))

	err = merkle.CheckInclusion(merkle.LeafHash([]byte("June")), 2, 5, proof, root)
	_, elsewhere := err.(*merkle.RootError)
	fmt.Println("June leads to another root:", elsewhere)
	// Output:
	// hashes: 3
	// june: <nil>
	// June leads to another root: true
}

// A client that kept a log's earlier root can verify that no entry was removed or changed later.
func ExampleCheckConsistency() {
	list := leaves("april", "may", "june", "july", "august")
	before, now := merkle.Root(list[:3]), merkle.Root(list)

	proof, err := merkle.ProveConsistency(list, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("extends:", merkle.CheckConsistency(3, 5, before, now, proof))

	rewritten := merkle.Root(leaves("april", "May", "june", "july", "august"))
	fmt.Println("rewritten is refused:", merkle.CheckConsistency(3, 5, before, rewritten, proof) != nil)
	// Output:
	// extends: <nil>
	// rewritten is refused: true
}
