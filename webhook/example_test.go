package webhook_test

import (
	"fmt"

	"github.com/causeway-webhook/causeway/webhook"
)

// A stored object is judged as if it were submitted today: with nothing stored
// and no owner.
func ExampleValidate() {
	instance := &webhook.Instance{}
	instance.Spec.Runtime = webhook.Runtime{
		Class: "web",
		Sandbox: &webhook.Sandbox{Containers: []webhook.Container{{
			Name: "app",
			SecurityContext: &webhook.SecurityContext{
				Capabilities: &webhook.Capabilities{Add: []string{"SYS_ADMIN"}},
			},
		}}},
	}
	web := webhook.RuntimeClass{}
	web.Name = "web"
	web.Spec.Capabilities.Features = []string{webhook.FeatureContainerCapabilities}
	web.Spec.Capabilities.GrantableCapabilities = []string{"NET_BIND_SERVICE"}

	runtime, path := webhook.RuntimeOf(instance)
	verdict := webhook.Validate(webhook.Case{
		Runtime: runtime,
		Path:    path,
		Classes: webhook.NewClasses([]webhook.RuntimeClass{web}),
	})
	for _, f := range verdict.Refused {
		fmt.Println(f.Rule, f.Class, f.Container, f.Capability)
		fmt.Println(f.Err.Detail)
	}
	// Output:
	// grant web app SYS_ADMIN
	// capability "SYS_ADMIN" is not granted by runtime class "web", which grants NET_BIND_SERVICE; no runtime class grants everything this object adds
}
