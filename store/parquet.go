package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// WriteParquet writes what a file of CSV holds, with a head, as Parquet. columns are the names and types of its columns in
// SQL, in a list as read_csv takes them. The file to is replaced where it is.
func WriteParquet(ctx context.Context, from, to, columns string) error {
	d, err := openDuck(":memory:", slices.Concat(noExtensions, settings{
		{"memory_limit", "512MB"}, {"threads", "1"}, {"temp_directory", ""},
	}))
	if err != nil {
		return err
	}
	defer d.close()
	defer d.interruptWith(ctx)()
	return d.exec(fmt.Sprintf(`COPY (SELECT * FROM read_csv(%s, header = true, delim = ',', quote = '"', escape = '"', columns = %s))
		TO %s (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)`, literal(from), columns, literal(to)))
}

// literal is a text in SQL.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
