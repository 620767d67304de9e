package kubectl

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
)

// delete does not wait for finalizers, as kubectl would; a Workload has none.
func (c *Client) delete(ctx context.Context, resource, name string) error {
	m, err := c.mapping(resource)
	if err != nil {
		return err
	}
	if err := c.rest.Delete().AbsPath(path(m, name)...).Do(ctx).Error(); err != nil {
		return err
	}
	from := ""
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		from = " from " + Namespace + " namespace"
	}
	printf(c.out, "%s %q deleted%s\n", fullName(m.GroupVersionKind.GroupKind()), name, from)
	return nil
}
