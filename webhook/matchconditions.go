package webhook

import (
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// MatchConditions are the CEL conditions under which the API server asks about
// a resource (workloads, workloaddeployments, instances); nil for any other.
// The manifest in deploy/ says the same, line breaks apart.
//
//   - adds-a-capability: some container adds something. Only such an object can
//     be refused, so one that adds nothing never leaves the API server and can be
//     stored while no webhook answers.
//   - created-or-runtime-changed: it is new, or its runtime differs from the
//     stored one. So labels, finalizers, replicas and gates can always be changed,
//     deletions can always finish, and none of them costs a call.
//
// Custom resources are untyped to CEL: a field that is missing is an error, and
// under failurePolicy Fail an error refuses the request. So each step of a path
// is guarded by has(), and against null, for which has() is true. The second
// condition need not guard the object itself: where it has no runtime the first
// is false, and one that is false outweighs the error of another. On CREATE
// oldObject is null, which is an error too, but `||` needs only one of its sides.
func MatchConditions(resourceName string) []admissionregistrationv1.MatchCondition {
	for _, r := range resources {
		if r.name == resourceName {
			return []admissionregistrationv1.MatchCondition{
				{Name: "adds-a-capability", Expression: addsCapability(r.runtime)},
				{Name: "created-or-runtime-changed", Expression: createdOrChanged(r.runtime)},
			}
		}
	}
	return nil
}

func addsCapability(runtime []string) string {
	containers := append(slices.Clone(runtime), "sandbox", "containers")
	add := []string{"securityContext", "capabilities", "add"}
	return guarded("object", containers) + " && " + dotted("object", containers) + ".exists(c, " +
		guarded("c", add) + " && size(" + dotted("c", add) + ") > 0)"
}

func createdOrChanged(runtime []string) string {
	return `request.operation == "CREATE" || !(` + guarded("oldObject", runtime) + " && " +
		dotted("oldObject", runtime) + " == " + dotted("object", runtime) + ")"
}

// guarded is true where every field of a path below root is there and not null.
func guarded(root string, fields []string) string {
	var steps []string
	for i := range fields {
		at := dotted(root, fields[:i+1])
		steps = append(steps, "has("+at+") && "+at+" != null")
	}
	return strings.Join(steps, " && ")
}

func dotted(root string, fields []string) string {
	return root + "." + strings.Join(fields, ".")
}
