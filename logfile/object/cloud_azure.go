//go:build cloud

package object

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
)

// An azureBucket asks the client of Azure itself. gocloud spells some bytes of keys in its own way ("%" as "__0x25__"),
// so that it finds no blob that has these and was written by others.
type azureBucket struct {
	*cloudBucket
	client *container.Client
}

// once is a context in which the client tries once.
func once(ctx context.Context) context.Context {
	return policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1})
}

func (b *azureBucket) page(ctx context.Context, prefix, delimiter string, from []byte) ([]listed, []byte, error) {
	most := int32(pageSize)
	options := container.ListBlobsHierarchyOptions{Prefix: &prefix, MaxResults: &most}
	if from != nil {
		marker := string(from)
		options.Marker = &marker
	}
	page, err := b.client.NewListBlobsHierarchyPager(delimiter, &options).NextPage(once(ctx))
	if err != nil {
		return nil, nil, err
	}
	var all []listed
	for _, o := range valueOf(page.Segment).BlobItems { // a page may be empty, and not be the last
		if o.Name != nil && o.Properties != nil {
			all = append(all, listedBlob(*o.Name, o.Properties.ContentLength, o.Properties.LastModified, o.Properties.ETag))
		}
	}
	if next := valueOf(page.NextMarker); next != "" {
		return all, []byte(next), nil
	}
	return all, nil, nil
}

// listedBlob is a blob by what the client says, which may leave out anything.
func listedBlob(key string, size *int64, modified *time.Time, version *azcore.ETag) listed {
	return listed{key, valueOf(size), valueOf(modified), string(valueOf(version))}
}

func valueOf[T any](of *T) (value T) {
	if of != nil {
		value = *of
	}
	return value
}

func (b *azureBucket) stat(ctx context.Context, key string) (listed, error) {
	p, err := b.client.NewBlobClient(key).GetProperties(once(ctx), nil)
	return listedBlob(key, p.ContentLength, p.LastModified, p.ETag), err
}

func (b *azureBucket) open(ctx context.Context, key, version string, offset, n int64) (io.ReadCloser, listed, error) {
	match := azcore.ETag(version)
	r, err := b.client.NewBlobClient(key).DownloadStream(once(ctx), &blob.DownloadStreamOptions{
		Range:            blob.HTTPRange{Offset: offset, Count: n},
		AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &match}},
	})
	if err != nil {
		return nil, listed{}, err
	}
	found := listedBlob(key, r.ContentLength, r.LastModified, r.ETag)
	if _, whole, ok := strings.Cut(valueOf(r.ContentRange), "/"); ok { // "bytes 10-14/27"
		found.size, _ = strconv.ParseInt(whole, 10, 64) // what is no number counts as changed
	}
	return r.Body, found, nil
}

func (b *azureBucket) create(ctx context.Context, key string) (io.WriteCloser, error) {
	return &azureWriter{ctx: once(ctx), blob: b.client.NewBlockBlobClient(key), name: rand.Text()}, nil
}

// An azureWriter writes a blob in blocks, which are one once Close has said so. The client's own UploadStream crashes the
// program where a store refuses a block before it has read it: the connection still sends what is unmapped by then.
type azureWriter struct {
	ctx   context.Context
	blob  *blockblob.Client
	name  string   // of the blocks, so that those of two writers do not mix
	names []string // of the blocks that the store has
	block []byte   // the next one
}

// Write implements io.Writer.
func (w *azureWriter) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		if w.block == nil { // never used again: a connection may still send the last one
			w.block = make([]byte, 0, rangeSize)
		}
		part := p[n:min(len(p), n+rangeSize-len(w.block))]
		w.block = append(w.block, part...)
		if n += len(part); len(w.block) == rangeSize {
			err = w.stage()
		}
	}
	return n, err
}

func (w *azureWriter) stage() error {
	name := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s-%05d", w.name, len(w.names)))
	_, err := w.blob.StageBlock(w.ctx, name, streaming.NopCloser(bytes.NewReader(w.block)), nil)
	w.block, w.names = nil, append(w.names, name)
	return err
}

// Close makes a blob of the blocks.
func (w *azureWriter) Close() error {
	if len(w.block) > 0 {
		if err := w.stage(); err != nil {
			return err
		}
	}
	_, err := w.blob.CommitBlockList(w.ctx, w.names, nil)
	return err
}
