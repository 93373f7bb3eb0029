//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"syscall/js"
)

// promising makes a JavaScript function of f that returns a promise. f runs in a
// goroutine of its own, because it may wait for promises itself. A panic becomes
// an error: nothing was decided then.
func promising(f func(args []js.Value) (any, error)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		var executor js.Func
		executor = js.FuncOf(func(_ js.Value, settle []js.Value) any {
			go func() {
				defer executor.Release()
				result, err := guarded(f, args)
				if err != nil {
					settle[1].Invoke(js.Global().Get("Error").New(err.Error()))
					return
				}
				settle[0].Invoke(result)
			}()
			return nil
		})

		return js.Global().Get("Promise").New(executor)
	})
}

func guarded(f func(args []js.Value) (any, error), args []js.Value) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("the program failed: %v; nothing was decided", p)
		}
	}()
	return f(args)
}

// await waits for a promise.
func await(promise js.Value) (js.Value, error) {
	type settled struct {
		value js.Value
		err   error
	}

	// A promise settles once: with room for one, neither function waits.
	done := make(chan settled, 1)
	fulfilled := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- settled{value: args[0]}
		return nil
	})
	defer fulfilled.Release()

	rejected := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- settled{err: errors.New(js.Global().Get("String").Invoke(args[0]).String())}
		return nil
	})
	defer rejected.Release()

	promise.Call("then", fulfilled, rejected)
	s := <-done
	return s.value, s.err
}
