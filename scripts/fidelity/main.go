// Fidelity holds limits of shadow against the real code that they are named after.
//
//	fidelity schedule                 prints the requests, a line each: microsecond and client
//	fidelity record NAME < VERDICTS   keeps what a limiter decided, a 1 (admitted) or 0 for each request
//	fidelity rows                     prints the rows: name, runner and its arguments
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fidelity:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "schedule":
		return write(out, schedule())
	case len(args) == 2 && args[0] == "record":
		verdicts, err := readVerdicts(in)
		if err != nil {
			return fmt.Errorf("%s: %w", args[1], err)
		}
		return record(args[1], verdicts, out)
	case len(args) == 1 && args[0] == "rows":
		for _, r := range rows {
			fmt.Fprintf(out, "%s\t%s\n", r.name, r.run)
		}
		return nil
	}
	return fmt.Errorf("want schedule, rows or record NAME, not %q", args)
}

// readVerdicts reads a digit for each request.
func readVerdicts(in io.Reader) ([]bool, error) {
	var admitted []bool
	for r := bufio.NewReader(in); ; {
		c, err := r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			if len(admitted) != requests {
				return nil, fmt.Errorf("%d verdicts, want %d", len(admitted), requests)
			}
			return admitted, nil
		case err != nil:
			return nil, err
		case c == '0' || c == '1':
			admitted = append(admitted, c == '1')
		case c != '\n':
			return nil, fmt.Errorf("%q is no verdict", c)
		}
	}
}
