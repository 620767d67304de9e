package crds_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/crds"
	"github.com/causeway-webhook/causeway/test/install"
)

// The installer's view of a control plane that has the CRDs.
var (
	config *rest.Config
	client *dynamic.DynamicClient
)

var (
	workloads      = resource("workloads")
	deployments    = resource("workloaddeployments")
	instances      = resource("instances")
	runtimeClasses = resource("runtimeclasses")
)

func resource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "compute.datumapis.com", Version: "v1alpha", Resource: name}
}

func TestMain(m *testing.M) {
	os.Exit(controlplane.RunTests(m, func(ctx context.Context, cp *controlplane.ControlPlane) (err error) {
		config = cp.AdminConfig()
		config.WarningHandlerWithContext = rest.NoWarnings{} // tests of pruning are full of them
		if client, err = dynamic.NewForConfig(config); err != nil {
			return err
		}
		objects, err := crds.Objects()
		if err != nil {
			return err
		}
		return install.Install(ctx, config, objects, install.Options{})
	}))
}

// object decodes a manifest, and fails the test if it is none.
func object(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(manifest))
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON(data))
	return obj
}

// set puts value, given as YAML, at a path of obj that may go through lists.
func set(t *testing.T, obj *unstructured.Unstructured, value string, path ...any) *unstructured.Unstructured {
	t.Helper()
	var decoded any
	require.NoError(t, yaml.Unmarshal([]byte(value), &decoded))
	var at any = obj.Object
	for _, step := range path[:len(path)-1] {
		switch step := step.(type) {
		case string:
			parent := at.(map[string]any)
			if parent[step] == nil {
				parent[step] = map[string]any{}
			}
			at = parent[step]
		case int:
			at = at.([]any)[step]
		}
	}
	parent, last := at.(map[string]any), path[len(path)-1].(string)
	if decoded == nil {
		delete(parent, last)
	} else {
		parent[last] = decoded
	}
	return obj
}

const workloadManifest = `
apiVersion: compute.datumapis.com/v1alpha
kind: Workload
metadata: {name: web, namespace: default}
spec:
  template:
    spec:
      runtime:
        class: general-purpose
        sandbox:
          containers:
          - {name: app, image: registry.example/app:1}
      networkInterfaces:
      - network: {name: default}
  placements:
  - name: main
    locations: [{name: us}]
    scaleSettings: {minReplicas: 1}
`

const deploymentManifest = `
apiVersion: compute.datumapis.com/v1alpha
kind: WorkloadDeployment
metadata: {name: web-main-us, namespace: default}
spec:
  workloadRef: {name: web, uid: "1"}
  placementName: main
  locationRef: {name: us}
  template:
    spec:
      runtime:
        class: general-purpose
        sandbox:
          containers:
          - {name: app, image: registry.example/app:1}
      networkInterfaces:
      - network: {name: default}
  scaleSettings: {minReplicas: 1}
`

const instanceManifest = `
apiVersion: compute.datumapis.com/v1alpha
kind: Instance
metadata: {name: web-main-us-0, namespace: default}
spec:
  runtime:
    class: general-purpose
    sandbox:
      containers:
      - {name: app, image: registry.example/app:1}
  networkInterfaces:
  - network: {name: default}
  location: {name: us}
  controller:
    templateHash: "1"
    schedulingGates: [{name: Quota}]
`

const runtimeClassManifest = `
apiVersion: compute.datumapis.com/v1alpha
kind: RuntimeClass
metadata: {name: web}
spec:
  controllerName: compute.datumapis.com/kata-provider
  isolation: {boundary: VirtualMachine}
  capabilities:
    features: [sandboxRuntime]
`
