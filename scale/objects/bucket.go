// Package objects has the clients of object stores: S3, Google Cloud Storage and Azure. package object lists and reads with
// them; a program that is to have them calls Register.
package objects

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"

	"cloud.google.com/go/storage"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	"gocloud.dev/blob/s3blob"

	"shadow/internal/logfile/object"
)

// Register has a program read names of S3, Google Cloud Storage and Azure. It must be called before any is looked at.
func Register() {
	for _, scheme := range []string{"s3", "gs", "azblob"} {
		object.Register(scheme, openBucket)
	}
}

// A cloudBucket is a bucket of any store, by way of gocloud.dev/blob. What that has no word for, the version of an
// object, is asked of the client below it.
type cloudBucket struct {
	name object.Name
	blob *blob.Bucket
}

// openBucket opens the bucket of a name, with the credentials that the client of its store finds.
func openBucket(ctx context.Context, n object.Name) (object.Bucket, error) {
	q, err := url.ParseQuery(n.Options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n, err)
	}
	u := url.URL{Scheme: n.Scheme, Host: n.Bucket}
	if n.Scheme == "s3" {
		usePathStyle(q)
	}
	u.RawQuery = q.Encode()
	b, err := blob.OpenBucket(ctx, u.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n, explainOpening(n, err))
	}
	if b, err = withoutRetries(ctx, n, b); err != nil {
		return nil, fmt.Errorf("%s: %w", n, err)
	}
	plain := &cloudBucket{n, b}
	var onAzure *container.Client
	if b.As(&onAzure) {
		return &azureBucket{plain, onAzure}, nil
	}
	return plain, nil
}

// withoutRetries has a client try once, since the Store repeats. Each has its own idea of how often: Google's tries forever.
func withoutRetries(ctx context.Context, n object.Name, b *blob.Bucket) (*blob.Bucket, error) {
	var onGoogle *storage.Client
	var onS3 *s3.Client
	switch {
	case b.As(&onGoogle):
		onGoogle.SetRetry(storage.WithMaxAttempts(1))
	case b.As(&onS3):
		once := s3.New(onS3.Options(), func(o *s3.Options) { o.Retryer = aws.NopRetryer{} })
		return s3blob.OpenBucket(ctx, once, n.Bucket, nil)
	}
	return b, nil
}

// usePathStyle has the bucket stand in the path where a server of one's own is asked, which seldom has a name for each.
func usePathStyle(q url.Values) {
	own := q.Has("endpoint") || os.Getenv("AWS_ENDPOINT_URL") != "" || os.Getenv("AWS_ENDPOINT_URL_S3") != ""
	if own && !q.Has("use_path_style") && !q.Has("s3ForcePathStyle") {
		q.Set("use_path_style", "true")
	}
}

// pageSize is the number of objects that are listed at once: the most that S3 grants.
const pageSize = 1000

func (b *cloudBucket) Page(ctx context.Context, prefix, delimiter string, from []byte) ([]object.Listed, []byte, error) {
	if from == nil {
		from = blob.FirstPageToken
	}
	page, next, err := b.blob.ListPage(ctx, from, pageSize, &blob.ListOptions{Prefix: prefix, Delimiter: delimiter})
	if err != nil {
		return nil, nil, err
	}
	var all []object.Listed
	for _, o := range page {
		if !o.IsDir {
			all = append(all, object.Listed{Key: o.Key, Size: o.Size, Modified: o.ModTime, Version: listedVersion(o)})
		}
	}
	if len(next) == 0 {
		next = nil
	}
	return all, next, nil
}

// listedVersion returns the version of an object in a listing.
func listedVersion(o *blob.ListObject) string {
	var onS3 s3types.Object
	var onGoogle storage.ObjectAttrs
	switch {
	case o.As(&onS3):
		return aws.ToString(onS3.ETag)
	case o.As(&onGoogle):
		return strconv.FormatInt(onGoogle.Generation, 10)
	}
	return ""
}

func (b *cloudBucket) Stat(ctx context.Context, key string) (object.Listed, error) {
	a, err := b.blob.Attributes(ctx, key)
	if err != nil {
		return object.Listed{}, err
	}
	l := object.Listed{Key: key, Size: a.Size, Modified: a.ModTime, Version: a.ETag}
	var onGoogle storage.ObjectAttrs
	if a.As(&onGoogle) {
		l.Version = strconv.FormatInt(onGoogle.Generation, 10)
	}
	return l, nil
}

func (b *cloudBucket) Open(ctx context.Context, key, version string, offset, n int64) (io.ReadCloser, object.Listed, error) {
	r, err := b.blob.NewRangeReader(ctx, key, offset, n, &blob.ReaderOptions{BeforeRead: func(as func(any) bool) error {
		var onS3 *s3.GetObjectInput
		var onGoogle **storage.ObjectHandle
		switch {
		case as(&onS3):
			onS3.IfMatch = &version
		case as(&onGoogle):
			generation, err := strconv.ParseInt(version, 10, 64)
			if err != nil {
				return err
			}
			*onGoogle = (*onGoogle).Generation(generation).ReadCompressed(true)
		}
		return nil
	}})
	if err != nil {
		return nil, object.Listed{}, err
	}
	return r, object.Listed{Key: key, Size: r.Size(), Modified: r.ModTime(), Version: readVersion(r, version)}, nil
}

// readVersion returns the version that is being read.
func readVersion(r *blob.Reader, asked string) string {
	var onS3 s3.GetObjectOutput
	if r.As(&onS3) && onS3.ETag != nil {
		return *onS3.ETag
	}
	return asked // of which Google has no other
}
