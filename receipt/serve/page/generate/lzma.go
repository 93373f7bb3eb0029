package main

import (
	"encoding/binary"
	"math/bits"
)

// The core is packed as LZMA (the format of .lzma files, as the LZMA SDK specifies it):
// a fifth smaller than gzip, and shell/unpack.js takes it out in a moment. There is no
// position bit and there are three bits of literal context.
const (
	literalBits = 3
	properties  = literalBits // (0*5+0)*9 + 3
	window      = 1 << 24

	shortest, longest = 2, 273 // bytes of a match
	chain             = 192    // earlier places that are looked at
	hashBits          = 20
)

// A prob is the probability of a 0, of 2048.
type prob uint16

// A rangeCoder writes bits by their probabilities.
type rangeCoder struct {
	out   []byte
	low   uint64
	width uint32
	cache byte
	held  int // bytes whose carry is open
}

func (r *rangeCoder) bit(p *prob, bit uint32) {
	bound := r.width >> 11 * uint32(*p)
	if bit == 0 {
		r.width = bound
		*p += (2048 - *p) >> 5
	} else {
		r.low += uint64(bound)
		r.width -= bound
		*p -= *p >> 5
	}
	r.normalize()
}

// direct writes bits that are as likely as not.
func (r *rangeCoder) direct(value uint32, count int) {
	for i := count - 1; i >= 0; i-- {
		r.width >>= 1
		r.low += uint64(r.width & -(value >> i & 1))
		r.normalize()
	}
}

func (r *rangeCoder) normalize() {
	for r.width < 1<<24 {
		r.width <<= 8
		r.shift()
	}
}

func (r *rangeCoder) shift() {
	if r.low < 0xff000000 || r.low >= 1<<32 {
		for first := true; r.held > 0; first = false {
			b := byte(0xff)
			if first {
				b = r.cache
			}
			r.out = append(r.out, b+byte(r.low>>32))
			r.held--
		}
		r.cache = byte(r.low >> 24)
	}
	r.held++
	r.low = r.low << 8 & 0xffffffff
}

// tree writes a number from its highest bit, reverse from its lowest. The root of
// either is at 1.
func (r *rangeCoder) tree(probs []prob, value uint32, count int) {
	at := uint32(1)
	for i := count - 1; i >= 0; i-- {
		b := value >> i & 1
		r.bit(&probs[at], b)
		at = at<<1 | b
	}
}

func (r *rangeCoder) reverse(probs []prob, value uint32, count int) {
	at := uint32(1)
	for i := range count {
		b := value >> i & 1
		r.bit(&probs[at], b)
		at = at<<1 | b
	}
}

// lengths are the probabilities of a length.
type lengths struct {
	choice   [2]prob
	low, mid [8]prob
	high     [256]prob
}

// A packer holds the probabilities, and the last four distances.
type packer struct {
	rangeCoder
	data  []byte
	state int
	reps  [4]int // each one less than the distance

	match, rep, rep0, rep1, rep2, rep0Long [12]prob
	literal                                [0x300 << literalBits]prob
	slot                                   [4][64]prob
	special                                [128]prob
	align                                  [16]prob
	matchLen, repLen                       lengths

	head, head3, earlier []int32
}

// pack returns data as a .lzma file. The same data gives the same bytes.
func pack(data []byte) []byte {
	p := &packer{data: data, head: make([]int32, 1<<hashBits), head3: make([]int32, 1<<hashBits), earlier: make([]int32, len(data))}
	p.width, p.held = 0xffffffff, 1
	p.out = append(p.out, properties)
	p.out = binary.LittleEndian.AppendUint32(p.out, window)
	p.out = binary.LittleEndian.AppendUint64(p.out, uint64(len(data)))
	p.reset()

	p.parse()
	for range 5 {
		p.shift()
	}
	return p.out
}

func (p *packer) reset() {
	all := [][]prob{p.match[:], p.rep[:], p.rep0[:], p.rep1[:], p.rep2[:], p.rep0Long[:], p.literal[:], p.special[:], p.align[:]}
	for i := range p.slot {
		all = append(all, p.slot[i][:])
	}
	for _, l := range []*lengths{&p.matchLen, &p.repLen} {
		all = append(all, l.choice[:], l.low[:], l.mid[:], l.high[:])
	}
	for _, probs := range all {
		for i := range probs {
			probs[i] = 1024
		}
	}
	for i := range p.head {
		p.head[i], p.head3[i] = -1, -1
	}
}

// A found match is a length and one less than its distance.
type found struct{ length, dist int }

// parse decides what is a literal and what a match, looking one byte ahead: what the
// xz tools call their fast mode.
func (p *packer) parse() {
	next := p.find(0)
	for at := 0; at < len(p.data); {
		here := next
		rep, repLen := p.bestRep(at)
		best := shorten(&here)
		if repLen >= 2 && (repLen+1 >= best.length || repLen+2 >= best.length && best.dist >= 1<<9 || repLen+3 >= best.length && best.dist >= 1<<15) {
			p.writeRep(rep, repLen)
			next = p.skip(at, repLen)
			at += repLen
			continue
		}

		next = p.skip(at, 1)
		if best.length < shortest || best.length == 2 && best.dist >= 1<<7 || best.length == 3 && best.dist >= 1<<16 || p.betterBehind(at+1, best, next) {
			p.writeLiteral(at)
			at++
			continue
		}
		p.writeMatch(best)
		if best.length > 1 {
			next = p.skip(at+1, best.length-1)
		}
		at += best.length
	}
}

// shorten takes the longest match, or a shorter one that lies much nearer.
func shorten(list *[]found) found {
	l := *list
	if len(l) == 0 {
		return found{}
	}
	best := l[len(l)-1]
	for i := len(l) - 2; i >= 0 && best.length == l[i].length+1 && nearer(l[i].dist, best.dist); i-- {
		best = l[i]
	}
	return best
}

func nearer(a, b int) bool { return a < b>>7 }

func (p *packer) betterBehind(at int, best found, next []found) bool {
	if len(next) > 0 {
		n := shorten(&next)
		if n.length >= best.length && n.dist < best.dist || n.length == best.length+1 && !nearer(best.dist, n.dist) ||
			n.length > best.length+1 || n.length+1 >= best.length && best.length >= 3 && nearer(n.dist, best.dist) {
			return true
		}
	}
	_, length := p.bestRep(at)
	return length >= max(2, best.length-1)
}

func (p *packer) bestRep(at int) (rep, length int) {
	for i, dist := range p.reps {
		if from := at - dist - 1; from >= 0 {
			if n := p.common(from, at); n > length {
				rep, length = i, n
			}
		}
	}
	return rep, length
}

// common is how many bytes are the same at two places.
func (p *packer) common(from, at int) int {
	most := min(longest, len(p.data)-at)
	n := 0
	for n < most && p.data[from+n] == p.data[at+n] {
		n++
	}
	return n
}

func (p *packer) hash4(at int) uint32 {
	return binary.LittleEndian.Uint32(p.data[at:]) * 2654435761 >> (32 - hashBits)
}

func (p *packer) hash3(at int) uint32 {
	return binary.LittleEndian.Uint32(p.data[at:]) << 8 * 2654435761 >> (32 - hashBits)
}

// skip enters count places from at, and finds the matches of the one behind.
func (p *packer) skip(at, count int) []found {
	for i := at; i < at+count && i+4 <= len(p.data); i++ {
		h := p.hash4(i)
		p.earlier[i], p.head[h] = p.head[h], int32(i)
		p.head3[p.hash3(i)] = int32(i)
	}
	return p.find(at + count)
}

// find returns matches at a place, the longer ones behind, each the nearest of its
// length.
func (p *packer) find(at int) (list []found) {
	if at+4 > len(p.data) {
		return nil
	}
	longestYet := 1
	try := func(from int) bool {
		if n := p.common(from, at); n > longestYet {
			longestYet = n
			list = append(list, found{n, at - from - 1})
		}
		return longestYet < longest
	}
	if from := int(p.head3[p.hash3(at)]); from >= 0 {
		try(from)
	}
	from := int(p.head[p.hash4(at)])
	for i := 0; from >= 0 && i < chain && try(from); i++ {
		from = int(p.earlier[from])
	}
	return list
}

// What is written, and how the state follows (LZMA SDK, "State machine").

func (p *packer) writeLiteral(at int) {
	p.bit(&p.match[p.state], 0)
	previous := byte(0)
	if at > 0 {
		previous = p.data[at-1]
	}
	probs := p.literal[0x300*int(previous>>(8-literalBits)):][:0x300]
	symbol := uint32(p.data[at])
	if p.state < 7 {
		p.tree(probs, symbol, 8)
	} else { // behind a match, the byte that it would have gone on with is likely not here
		p.matched(probs, symbol, uint32(p.data[at-p.reps[0]-1]))
	}

	switch {
	case p.state < 4:
		p.state = 0
	case p.state < 10:
		p.state -= 3
	default:
		p.state -= 6
	}
}

func (p *packer) matched(probs []prob, symbol, other uint32) {
	offset, at := uint32(0x100), uint32(1)
	for i := 7; i >= 0; i-- {
		other <<= 1
		b, o := symbol>>i&1, other&offset
		p.bit(&probs[offset+o+at], b)
		at = at<<1 | b
		if b == 0 {
			offset &^= other
		} else {
			offset &= other
		}
	}
}

func (p *packer) writeRep(rep, length int) {
	p.bit(&p.match[p.state], 1)
	p.bit(&p.rep[p.state], 1)
	if rep == 0 {
		p.bit(&p.rep0[p.state], 0)
		p.bit(&p.rep0Long[p.state], 1)
	} else {
		p.bit(&p.rep0[p.state], 1)
		p.bit(&p.rep1[p.state], uint32(min(rep-1, 1)))
		if rep > 1 {
			p.bit(&p.rep2[p.state], uint32(rep-2))
		}
		dist := p.reps[rep]
		copy(p.reps[1:], p.reps[:rep])
		p.reps[0] = dist
	}
	p.writeLength(&p.repLen, length)
	p.state = after(p.state, 8)
}

func after(state, then int) int {
	if state < 7 {
		return then
	}
	return map[int]int{7: 10, 8: 11}[then]
}

func (p *packer) writeMatch(m found) {
	p.bit(&p.match[p.state], 1)
	p.bit(&p.rep[p.state], 0)
	p.writeLength(&p.matchLen, m.length)
	p.state = after(p.state, 7)
	copy(p.reps[1:], p.reps[:3])
	p.reps[0] = m.dist

	probs, dist := p.slot[min(m.length-shortest, 3)][:], uint32(m.dist)
	if dist < 4 {
		p.tree(probs, dist, 6)
		return
	}
	count := bits.Len32(dist) - 2
	slot := uint32(count+1)<<1 | dist>>count&1
	p.tree(probs, slot, 6)
	low := dist & (1<<count - 1)
	if slot < 14 {
		base := (2 | slot&1) << count
		p.reverse(p.special[base-slot:], low, count)
		return
	}
	p.direct(low>>4, count-4)
	p.reverse(p.align[:], low&15, 4)
}

func (p *packer) writeLength(l *lengths, length int) {
	n := uint32(length - shortest)
	switch {
	case n < 8:
		p.bit(&l.choice[0], 0)
		p.tree(l.low[:], n, 3)
	case n < 16:
		p.bit(&l.choice[0], 1)
		p.bit(&l.choice[1], 0)
		p.tree(l.mid[:], n-8, 3)
	default:
		p.bit(&l.choice[0], 1)
		p.bit(&l.choice[1], 1)
		p.tree(l.high[:], n-16, 8)
	}
}
