package files

// A pile is a list that grows in blocks of fixed size. Adding an item never copies other items, so
// a growing list does not temporarily need twice the memory of its items.
type pile[T any] struct {
	blocks [][]T // every block except the last is full
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

// at returns the item with the given number, from 0.
func (p *pile[T]) at(number int32) *T { return &p.blocks[number/pileBlock][number%pileBlock] }

// flat copies all items to one slice and empties the pile.
func (p *pile[T]) flat() []T {
	all := make([]T, 0, p.len)
	for i, block := range p.blocks {
		all, p.blocks[i] = append(all, block...), nil
	}
	*p = pile[T]{}
	return all
}
