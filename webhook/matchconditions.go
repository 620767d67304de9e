package webhook

import (
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// MatchConditions are the CEL conditions under which the API server asks about
// a resource (workloads, workloaddeployments, instances); nil for any other.
// The manifest in deploy/ must say the same.
//
//   - adds-capabilities: some container adds something. Only such an object can
//     be refused, so one that adds nothing never leaves the API server and can be
//     stored while no webhook answers.
//   - runtime-changed: it is new, or its runtime differs from the stored one. So
//     labels, finalizers, replicas and gates can always be changed, deletions
//     can always finish, and none of them costs a call.
//
// Custom resources are untyped to CEL: a field that is missing is an error, and
// under failurePolicy Fail an error refuses the request. So each step of a path
// is guarded by has(), on the object and on the stored one, and against null,
// for which has() is true. The order does not matter: the API server evaluates
// every condition and one that is false outweighs an error of another. On CREATE
// oldObject is null; `||` needs only one of its sides.
func MatchConditions(resourceName string) []admissionregistrationv1.MatchCondition {
	for _, r := range resources {
		if r.name == resourceName {
			return []admissionregistrationv1.MatchCondition{
				{Name: "adds-capabilities", Expression: addsCapabilities(r.runtime)},
				{Name: "runtime-changed", Expression: runtimeChanged(r.runtime)},
			}
		}
	}
	return nil
}

func addsCapabilities(runtime []string) string {
	containers := append(append([]string{}, runtime...), "sandbox", "containers")
	return guarded("object", containers) + " && " + dotted("object", containers) + ".exists(c, " +
		guarded("c", []string{"securityContext", "capabilities", "add"}) + " && size(c.securityContext.capabilities.add) > 0)"
}

func runtimeChanged(runtime []string) string {
	return `request.operation == "CREATE" || !(` + guarded("object", runtime) + " && " + guarded("oldObject", runtime) + ") || " +
		dotted("object", runtime) + " != " + dotted("oldObject", runtime)
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
