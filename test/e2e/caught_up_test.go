package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// caughtUp sends an update or patch once the API server's cache holds the object
// as it is stored. Against an older one the API server judges it first as well,
// and again when that turns out: the answer is the second one's, but the warnings
// of the first stay in it, and the webhook has counted two reviews.
type caughtUp struct {
	sends http.RoundTripper
	reads *http.Client
}

// newCaughtUp makes a configuration's requests wait so.
func newCaughtUp(config *rest.Config) (*rest.Config, error) {
	reads, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.Wrap(func(sends http.RoundTripper) http.RoundTripper { return caughtUp{sends, reads} })
	return config, nil
}

// RoundTrip implements http.RoundTripper.
func (c caughtUp) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method == http.MethodPut || request.Method == http.MethodPatch {
		at := *request.URL
		at.Path = strings.TrimSuffix(strings.TrimSuffix(at.Path, "/status"), "/scale")
		if err := c.wait(request, at); err != nil {
			return nil, fmt.Errorf("waiting for the API server's cache to hold %s: %w", at.Path, err)
		}
	}
	return c.sends.RoundTrip(request)
}

// wait reads what is stored, and then from the cache what is no older, which
// the API server answers when it can.
func (c caughtUp) wait(request *http.Request, at url.URL) error {
	at.RawQuery = ""
	stored, err := c.resourceVersion(request, at)
	if err != nil || stored == "" {
		return err
	}
	at.RawQuery = url.Values{"resourceVersion": {stored}}.Encode()
	_, err = c.resourceVersion(request, at)
	return err
}

// resourceVersion is empty for what does not exist.
func (c caughtUp) resourceVersion(request *http.Request, at url.URL) (string, error) {
	read, err := http.NewRequestWithContext(request.Context(), http.MethodGet, at.String(), nil)
	if err != nil {
		return "", err
	}
	read.Header.Set("Accept", "application/json")
	answer, err := c.reads.Do(read)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		return "", nil
	case http.StatusOK:
		var o metav1.PartialObjectMetadata
		err := json.Unmarshal(text, &o)
		return o.ResourceVersion, err
	default:
		return "", fmt.Errorf("%s: %s", answer.Status, text)
	}
}
