package objects

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"shadow/internal/logfile/object"
)

// An azureBucket asks the client of Azure itself. gocloud spells some bytes of keys in its own way ("%" as "__0x25__"),
// so that it finds no blob that has these and was written by others.
type azureBucket struct {
	*cloudBucket
	client *container.Client
}

// once returns a context in which the client tries once.
func once(ctx context.Context) context.Context {
	return policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1})
}

func (b *azureBucket) Page(ctx context.Context, prefix, delimiter string, from []byte) ([]object.Listed, []byte, error) {
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
	var all []object.Listed
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

// listedBlob returns a blob by what the client says, which may leave out anything.
func listedBlob(key string, size *int64, modified *time.Time, version *azcore.ETag) object.Listed {
	return object.Listed{Key: key, Size: valueOf(size), Modified: valueOf(modified), Version: string(valueOf(version))}
}

func valueOf[T any](of *T) (value T) {
	if of != nil {
		value = *of
	}
	return value
}

func (b *azureBucket) Stat(ctx context.Context, key string) (object.Listed, error) {
	p, err := b.client.NewBlobClient(key).GetProperties(once(ctx), nil)
	return listedBlob(key, p.ContentLength, p.LastModified, p.ETag), err
}

func (b *azureBucket) Open(ctx context.Context, key, version string, offset, n int64) (io.ReadCloser, object.Listed, error) {
	match := azcore.ETag(version)
	r, err := b.client.NewBlobClient(key).DownloadStream(once(ctx), &blob.DownloadStreamOptions{
		Range:            blob.HTTPRange{Offset: offset, Count: n},
		AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &match}},
	})
	if err != nil {
		return nil, object.Listed{}, err
	}
	found := listedBlob(key, r.ContentLength, r.LastModified, r.ETag)
	if _, whole, ok := strings.Cut(valueOf(r.ContentRange), "/"); ok { // "bytes 10-14/27"
		found.Size, _ = strconv.ParseInt(whole, 10, 64) // what is no number counts as changed
	}
	return r.Body, found, nil
}
