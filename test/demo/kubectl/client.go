package kubectl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// Namespace is where commands act: they name none.
const Namespace = "default"

// Client runs commands as one user. It is not for use by several goroutines.
type Client struct {
	rest   rest.Interface
	mapper meta.RESTMapper
	files  fs.FS
	out    *bytes.Buffer // what the running command has printed
}

// New returns a client that acts as config says and reads manifests from files.
func New(config *rest.Config, files fs.FS) (*Client, error) {
	c := &Client{mapper: computeapi.NewRESTMapper(), files: files, out: &bytes.Buffer{}}
	config = rest.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.WarningHandler = rest.NewWarningWriter(c.out, rest.WarningWriterOptions{})
	var err error
	if c.rest, err = rest.UnversionedRESTClientFor(config); err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return c, nil
}

// Run runs a command, "get workload api" say, and returns all that kubectl would
// print. An answer of the server that is an error is text as well; the error
// returned tells of a command that this package does not know.
func (c *Client) Run(ctx context.Context, command string) (string, error) {
	c.out.Reset()
	err := c.run(ctx, command)
	var usage *usageError
	if errors.As(err, &usage) {
		return "", fmt.Errorf("kubectl %s: %w", command, err)
	}
	if err != nil {
		printError(c.out, err)
	}
	return c.out.String(), nil
}

// usageError is the caller's mistake and no answer of the server.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

func (c *Client) run(ctx context.Context, command string) error {
	words := strings.Fields(command)
	wide := false
	if n := len(words); n > 2 && words[n-2] == "-o" && words[n-1] == "wide" {
		words, wide = words[:n-2], true
	}
	switch {
	case len(words) == 3 && words[0] == "apply" && words[1] == "-f" && !wide:
		return c.apply(ctx, words[2])
	case len(words) == 2 && words[0] == "get":
		return c.get(ctx, words[1], "", wide)
	case len(words) == 3 && words[0] == "get":
		return c.get(ctx, words[1], words[2], wide)
	case len(words) == 3 && words[0] == "delete" && !wide:
		return c.delete(ctx, words[1], words[2])
	}
	return usagef("not a command that is known here")
}

// mapping resolves a word as kubectl does: a resource, singular or plural.
func (c *Client) mapping(word string) (*meta.RESTMapping, error) {
	kind, err := c.mapper.KindFor(schema.GroupVersionResource{Resource: word})
	if err != nil {
		return nil, usagef("the server doesn't have a resource type %q", word)
	}
	return c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

// path is where an object is served; the name is empty for all of them.
func path(m *meta.RESTMapping, name string) []string {
	segments := []string{"apis", m.Resource.Group, m.Resource.Version}
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		segments = append(segments, "namespaces", Namespace)
	}
	segments = append(segments, m.Resource.Resource)
	if name != "" {
		segments = append(segments, name)
	}
	return segments
}

// fullName is how kubectl names a kind when it reports what it did.
func fullName(kind schema.GroupKind) string {
	return strings.ToLower(kind.Kind) + "." + kind.Group
}

func printf(w io.Writer, format string, args ...any) {
	// The writer is a buffer, which takes everything.
	_, _ = fmt.Fprintf(w, format, args...)
}
