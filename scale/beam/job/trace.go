package job

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"shadow/replay"
	"shadow/scale/shard"
)

// keep writes the requests of a shard: each of its blocks behind its length.
func (j *Job) keep(ctx context.Context, number int, blocks [][]byte) (File, error) {
	var text []byte
	for _, b := range blocks {
		text = append(binary.LittleEndian.AppendUint64(text, uint64(len(b))), b...)
	}
	return write(ctx, j.Output, fmt.Sprintf("requests-%05d-of-%05d", number, j.all()), text)
}

// kept returns the blocks that keep has written.
func kept(text []byte) (blocks [][]byte, err error) {
	for len(text) > 0 {
		if len(text) < 8 || binary.LittleEndian.Uint64(text) > uint64(len(text)-8) {
			return nil, errors.New("makes no sense")
		}
		end := 8 + int(binary.LittleEndian.Uint64(text))
		blocks, text = append(blocks, text[8:end]), text[end:]
	}
	return blocks, nil
}

// Traces writes the requests that results keep as traces, one for each shard, into a folder that it makes: all of them, or
// there is no folder. Any command reads them as one log.
func Traces(ctx context.Context, folder, to string) (err error) {
	r, err := readRun(ctx, folder)
	if err != nil {
		return err
	}
	if !r.Job.Trace {
		return fmt.Errorf("%s has no requests: run the pipeline with --trace, which keeps them", folder)
	}
	to = filepath.Clean(to) // a name that ends in a slash is that of the folder as well
	if _, err := os.Stat(to); err == nil {
		return fmt.Errorf("%s: is there already; name a new folder", to)
	}
	c, err := Collect(ctx, folder)
	if err != nil {
		return err
	}
	part, err := os.MkdirTemp(filepath.Dir(to), "."+filepath.Base(to)+".*.part")
	if err != nil {
		return err
	}
	defer os.RemoveAll(part) //nolint:errcheck // it has got its name, unless something failed
	var names []string
	for _, f := range r.Requests {
		names = append(names, filepath.Join(part, strings.Replace(f.Name, "requests", "trace", 1)+".parquet"))
	}
	err = c.replay.WriteTraces(ctx, names, func(file int) (replay.Source, error) { return c.source(ctx, folder, r.Requests[file]) })
	if err != nil {
		return err
	}
	return os.Rename(part, to)
}

// source returns the requests of a file.
func (c *Collection) source(ctx context.Context, folder string, f File) (*shard.Source, error) {
	text, err := Read(ctx, folder, f)
	if err != nil {
		return nil, err
	}
	blocks, err := kept(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", join(folder, f.Name), err)
	}
	set, err := shard.Open(blocks)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", join(folder, f.Name), err)
	}
	return set.Source(&c.replay.Read)
}
