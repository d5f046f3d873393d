// Answers lines of numbers, each in a goroutine whose stack grows, and thus moves; each seventh by a panic that is recovered.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
)

//go:noinline
func deep(n, depth int) int {
	var kept [64]int
	kept[depth%64] = n
	if depth == 0 {
		if n%7 == 3 {
			panic(fmt.Sprintf("refused %d", n))
		}
		return n
	}
	return deep(n, depth-1) + kept[depth%64] - n + depth
}

func answer(n int, to chan<- string) {
	defer func() {
		if e := recover(); e != nil {
			to <- fmt.Sprint(e)
		}
	}()
	table := map[string]int{}
	for i := 0; i < n%20; i++ {
		table["key"+strconv.Itoa(i)] = i
	}
	to <- fmt.Sprintf("%d %d", deep(n, n%40), len(table))
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for i := 0; lines.Scan(); i++ {
		n, _ := strconv.Atoi(lines.Text())
		to := make(chan string)
		go answer(n, to)
		fmt.Println(<-to)
		if i%500 == 0 {
			runtime.GC()
		}
	}
}
