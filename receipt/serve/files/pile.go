package files

// A pile is a list that grows in blocks. Adding an item copies no other item, so a long list
// requires only the memory for its items, not twice as much while it grows.
type pile[T any] struct {
	blocks [][]T // each block but the last is full
	len    int
}

// pileBlock is the number of items in a block.
const pileBlock = 1024

func (p *pile[T]) add(item T) {
	if p.len%pileBlock == 0 {
		p.blocks = append(p.blocks, make([]T, 0, pileBlock))
	}
	last := &p.blocks[len(p.blocks)-1]
	*last = append(*last, item)
	p.len++
}

// at returns the item with a number, counted from 0.
func (p *pile[T]) at(number int32) *T { return &p.blocks[number/pileBlock][number%pileBlock] }

// flat moves the items into one slice, and empties the pile.
func (p *pile[T]) flat() []T {
	all := make([]T, 0, p.len)
	for i, block := range p.blocks {
		all, p.blocks[i] = append(all, block...), nil
	}
	*p = pile[T]{}
	return all
}
