package webhook

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule feature: a class without the feature containerCapabilities grants
// nothing, whatever it lists. Said once a container, at ...add: no entry is
// worse than the other.
func refuseFeature(c *class, alternative string, path *field.Path) *field.Error {
	return field.Forbidden(path, fmt.Sprintf("runtime class %s grants no capabilities; %s", quote(c.name), alternative))
}
