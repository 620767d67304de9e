package webhook

import "k8s.io/apimachinery/pkg/util/validation/field"

// Rule grant: a capability must be among those the class grants. Names that no
// kernel knows are refused here too, since no class can list them. Said once an
// entry, at ...add[i], by its canonical name and, where that differs, as it was
// written:
//
//	capability "SYS_ADMIN" (written "cap_sys_admin") is not granted by runtime
//	class "web", which grants NET_BIND_SERVICE; no runtime class grants
//	everything this object adds
func refuseGrant(c *class, written, alternative, path string) *field.Error {
	name := quote(Canonical(written))
	if as := quote(written); as != name {
		name += " (written " + as + ")"
	}
	return forbidden(path, "capability "+name+" is not granted by runtime class "+quote(c.name)+", which grants "+c.granted+"; "+alternative)
}

// alternative says which class would do: the first by name that grants
// everything the object adds. It looks at the whole object, since one class
// serves all its containers.
func alternative(classes *Classes, r *Runtime) string {
	var adds []string
	for _, c := range r.containers() {
		for _, name := range c.adds() {
			adds = append(adds, Canonical(name))
		}
	}
	if c := classes.granting(adds); c != nil {
		return "runtime class " + quote(c.name) + " grants everything this object adds"
	}
	return "no runtime class grants everything this object adds"
}
