package platform_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/test/controlplane"
	"github.com/causeway-webhook/causeway/test/platform"
)

func Example() {
	var cp *controlplane.ControlPlane // with the CRDs installed
	ctx := context.Background()

	if err := platform.InstallRBAC(ctx, cp.AdminConfig()); err != nil {
		panic(err)
	}
	p, err := platform.Start(ctx, platform.Options{
		Config:  func(user string) *rest.Config { return cp.Config(user) },
		Flavour: platform.Unikraft,
	})
	if err != nil {
		panic(err)
	}
	defer p.Stop()

	// When Set returns, the provider's write has returned.
	instance := types.NamespacedName{Namespace: "default", Name: platform.InstanceName("web-0123456789", 0)}
	if err := p.Provider.Set(ctx, instance, platform.OOMKilled); err != nil {
		panic(err)
	}
	p.Workload.Pause()
	fmt.Println(p.Workload.Writes())
	p.Workload.Resume()
}
