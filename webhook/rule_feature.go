package webhook

import "k8s.io/apimachinery/pkg/util/validation/field"

// Rule feature: a class without the feature containerCapabilities grants
// nothing, whatever it lists. Said once a container, at ...add: no entry is
// worse than the other.
func refuseFeature(c *class, alternative, path string) *field.Error {
	return forbidden(path, "runtime class "+quote(c.name)+" grants no capabilities; "+alternative)
}
