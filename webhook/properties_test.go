package webhook

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Of any object that is accepted, each entry is granted by its class under that
// very name, or the stored object added it to the same container of the same
// class without dropping it.
func FuzzAcceptedIsGrantedOrKept(f *testing.F) {
	f.Add("web", "web", "NET_BIND_SERVICE SYS_ADMIN", "SYS_ADMIN", "")
	f.Add("", "unikernel", "ALL all CAP_CHOWN", "ALL", "ALL")
	f.Add("general-purpose", "", "chown CHOWN", "chown", "")
	classes := NewClasses(published())
	f.Fuzz(func(t *testing.T, class, storedClass, adds, storedAdds, storedDrops string) {
		r := runtimeOf(class, ctr("app", strings.Split(adds, " ")...))
		stored := runtimeOf(storedClass, ctr("app", strings.Split(storedAdds, " ")...).dropping(strings.Split(storedDrops, " ")...))
		v := Validate(Case{Runtime: r, Stored: stored, Classes: classes})
		c := classes.find(classes.resolve(class))
		sameClass := classes.resolve(class) == classes.resolve(storedClass)
		refused := func(name string) bool {
			granted := c != nil && slices.Contains(c.grants, name) && name != "ALL"
			kept := sameClass && slices.Contains(strings.Split(storedAdds, " "), name) && !slices.Contains(strings.Split(storedDrops, " "), name)
			return !granted && !kept
		}
		assert.Equal(t, slices.ContainsFunc(strings.Split(adds, " "), refused), len(v.Refused) > 0,
			"class %q adding %q, stored %q adding %q dropping %q", class, adds, storedClass, storedAdds, storedDrops)
	})
}
