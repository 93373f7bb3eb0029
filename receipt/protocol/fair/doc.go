// Package fair divides what a server has among its clients: whoever finds no share of
// [Shares] is refused, whoever waits for one of [Turns] gets it.
package fair
