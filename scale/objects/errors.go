package objects

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"

	"shadow/internal/logfile/object"
)

// What stores answer, as what to do about it.

// answerOf returns the status and the code with which a store has refused, and the region in which it says that the
// bucket lies. The status is 0 if there was no answer.
func answerOf(err error) (status int, code, region string) {
	var onS3 *awshttp.ResponseError
	var named smithy.APIError
	var onAzure *azcore.ResponseError
	var onGoogle *googleapi.Error
	switch {
	case errors.As(err, &onAzure):
		return onAzure.StatusCode, onAzure.ErrorCode, ""
	case errors.As(err, &onGoogle):
		return onGoogle.Code, "", ""
	case errors.As(err, &onS3):
		status = onS3.HTTPStatusCode()
		if onS3.Response != nil {
			region = onS3.Response.Header.Get("x-amz-bucket-region")
		}
	}
	if errors.As(err, &named) {
		code = named.ErrorCode()
	}
	return status, code, region
}

func (b *cloudBucket) Explain(err error) (text error, again bool) {
	status, code, region := answerOf(err)
	switch {
	case status == http.StatusPreconditionFailed:
		return object.ErrChanged, false
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, code == "SlowDown":
		return fmt.Errorf("the store answers %d %s", status, cmp.Or(code, http.StatusText(status))), true
	case status == http.StatusMovedPermanently, code == "AuthorizationHeaderMalformed", code == "IllegalLocationConstraintException":
		return b.inRegion(region), false
	case code == "NoSuchBucket" || code == "ContainerNotFound":
		return fmt.Errorf("there is no such bucket: %s; check its name%s", b.name.Bucket, b.where()), false
	case gcerrors.Code(err) == gcerrors.NotFound || status == http.StatusNotFound:
		return object.ErrMissing, false
	case isCredential(err, code):
		return fmt.Errorf("%s (%s)", b.credentials(), short(err)), false
	case status == http.StatusForbidden || status == http.StatusUnauthorized || gcerrors.Code(err) == gcerrors.PermissionDenied:
		return fmt.Errorf("access denied (%d %s): reading logs needs the right to list the bucket and to get its objects%s",
			status, cmp.Or(code, http.StatusText(status)), b.where()), false
	case strings.Contains(err.Error(), "region must be set"):
		return errors.New("no region is known: set AWS_REGION, or name it: ?region=eu-west-1"), false
	case status > 0:
		return fmt.Errorf("the store answers %d %s", status, cmp.Or(code, short(err))), false
	case isBroken(err):
		return fmt.Errorf("the connection failed: %s", short(err)), true
	}
	return fmt.Errorf("%s", short(err)), false
}

// isBroken reports whether a connection has failed.
func isBroken(err error) bool {
	var network net.Error
	var operation *net.OpError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.As(err, &network) ||
		errors.As(err, &operation) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "server closed") || strings.Contains(err.Error(), "connection reset")
}

// isCredential reports whether a client has found no credentials, or the store does not know them.
func isCredential(err error, code string) bool {
	switch code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "AuthenticationFailed", "TokenRefreshRequired":
		return true
	}
	text := err.Error()
	return strings.Contains(text, "get credentials") || strings.Contains(text, "refresh cached credentials") ||
		strings.Contains(text, "could not find default credentials") || strings.Contains(text, "DefaultAzureCredential")
}

// credentials says where the client of a store looks for them.
func (b *cloudBucket) credentials() string {
	switch b.name.Scheme {
	case "s3":
		return "no valid credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; a public bucket needs ?anonymous=true"
	case "gs":
		return "no valid credentials for Google Cloud: set GOOGLE_APPLICATION_CREDENTIALS, or run gcloud auth application-default login; " +
			"a public bucket needs ?anonymous=true"
	}
	return "no valid credentials for Azure: set AZURE_STORAGE_ACCOUNT, and AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or run az login"
}

// where says how to name another place.
func (b *cloudBucket) where() string {
	switch b.name.Scheme {
	case "s3":
		return "; another region or server is named so: ?region=eu-west-1&endpoint=https://HOST"
	case "azblob":
		return "; another account is named so: ?storage_account=NAME"
	}
	return ""
}

// inRegion says that a bucket lies elsewhere.
func (b *cloudBucket) inRegion(region string) error {
	if region == "" {
		return fmt.Errorf("bucket %s lies in another region: set AWS_REGION, or name it: ?region=eu-west-1", b.name.Bucket)
	}
	return fmt.Errorf("bucket %s lies in region %s: set AWS_REGION=%[2]s, or add ?region=%[2]s to the name", b.name.Bucket, region)
}

// explainOpening says why the client of a store could not even be made.
func explainOpening(n object.Name, err error) error {
	b := &cloudBucket{name: n}
	text := err.Error()
	switch {
	case strings.Contains(text, "unknown query parameter"):
		return fmt.Errorf("%s%s", short(err), "; options are those of https://gocloud.dev/howto/blob/")
	case isCredential(err, "") || strings.Contains(text, "AccountName is required"):
		return fmt.Errorf("%s (%s)", b.credentials(), short(err))
	}
	return fmt.Errorf("%s", short(err))
}

// short returns the end of the chain of causes, which says most.
func short(err error) string {
	const most = 300 // bytes
	text := strings.Join(strings.Fields(err.Error()), " ")
	if i := strings.LastIndex(text, "https response error"); i >= 0 {
		text = text[i:]
	}
	if len(text) > most {
		text = "… " + text[len(text)-most:]
	}
	return text
}
