package computeapi

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NewRESTMapper maps the four kinds without asking the API server, so that
// clients work before discovery does and need no permission for it.
func NewRESTMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{GroupVersion})
	mapper.AddSpecific(GroupVersion.WithKind("RuntimeClass"),
		GroupVersion.WithResource("runtimeclasses"), GroupVersion.WithResource("runtimeclass"), meta.RESTScopeRoot)
	mapper.AddSpecific(GroupVersion.WithKind("Workload"),
		GroupVersion.WithResource("workloads"), GroupVersion.WithResource("workload"), meta.RESTScopeNamespace)
	mapper.AddSpecific(GroupVersion.WithKind("WorkloadDeployment"),
		GroupVersion.WithResource("workloaddeployments"), GroupVersion.WithResource("workloaddeployment"), meta.RESTScopeNamespace)
	mapper.AddSpecific(GroupVersion.WithKind("Instance"),
		GroupVersion.WithResource("instances"), GroupVersion.WithResource("instance"), meta.RESTScopeNamespace)
	return mapper
}
