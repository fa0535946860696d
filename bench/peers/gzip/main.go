// Compresses bodies of a file with gzip of Go and of klauspost/compress. Prints a line for each: name, CPU seconds, bytes.
package main

import (
	standard "compress/gzip"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"github.com/klauspost/compress/gzip"
)

type counter int

func (count *counter) Write(bytes []byte) (int, error) {
	*count += counter(len(bytes))
	return len(bytes), nil
}

func main() {
	runtime.GOMAXPROCS(1)
	content, err := os.ReadFile(os.Args[1])
	must(err)
	size, err := strconv.Atoi(os.Args[2])
	must(err)
	rounds, err := strconv.Atoi(os.Args[3])
	must(err)
	var length counter
	own, err := standard.NewWriterLevel(&length, standard.BestSpeed)
	must(err)
	fast, err := gzip.NewWriterLevel(&length, gzip.BestSpeed)
	must(err)
	ways := []struct {
		name   string
		writer interface {
			io.WriteCloser
			Reset(io.Writer)
		}
	}{{"Go, level 1", own}, {"klauspost (Go), level 1", fast}}
	for _, way := range ways {
		best := -1.0
		for round := 0; round < rounds; round++ {
			length = 0
			since := seconds()
			for at := 0; at < len(content); at += size {
				way.writer.Reset(&length)
				_, err := way.writer.Write(content[at:min(at+size, len(content))])
				must(err)
				must(way.writer.Close())
			}
			if took := seconds() - since; best < 0 || took < best {
				best = took
			}
		}
		fmt.Printf("%s\t%f\t%d\n", way.name, best, length)
	}
}

func seconds() float64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
