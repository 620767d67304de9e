package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/causeway-webhook/causeway/webhook"
)

func TestHintClassesFollowWhatIsPublished(t *testing.T) {
	told := 0
	h := &hintClasses{changed: func() { told++ }, byName: map[string]webhook.RuntimeClass{}}
	h.current.Store(webhook.NewClasses(nil))
	web := &webhook.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	web.Spec.Default = true
	web.Spec.Capabilities = webhook.RuntimeCapabilities{
		Features: []string{webhook.FeatureContainerCapabilities}, GrantableCapabilities: []string{"KILL", "CHOWN"}}
	web.Spec.DefaultSecurityContext = &webhook.DefaultSecurityContext{Capabilities: &webhook.Capabilities{Add: []string{"CHOWN", "KILL"}}}
	grants := func() []string {
		_, capabilities := h.defaultGrants("")
		return capabilities
	}
	assert.Empty(t, grants(), "nothing is known before the first list")

	h.keep(web)
	assert.Equal(t, []string{"CHOWN", "KILL"}, grants())
	assert.Equal(t, 1, told)

	h.failed(errors.New("connection refused"))
	assert.Equal(t, []string{"CHOWN", "KILL"}, grants(), "an API server that is away takes nothing back")
	assert.Equal(t, 1, told)

	h.failed(apierrors.NewForbidden(schema.GroupResource{}, "", nil))
	h.failed(apierrors.NewForbidden(schema.GroupResource{}, "", nil))
	assert.Empty(t, grants(), "what may not be read any more may be wrong by now")
	assert.Equal(t, 2, told)

	less := web.DeepCopy()
	less.Spec.Capabilities.GrantableCapabilities = []string{"KILL"}
	h.keep(less)
	assert.Equal(t, []string{"KILL"}, grants(), "it may be read again")

	h.drop(toolscache.DeletedFinalStateUnknown{Key: "web", Obj: less})
	name, capabilities := h.defaultGrants("web")
	assert.Equal(t, "web", name)
	assert.Empty(t, capabilities)
	assert.Equal(t, 4, told)
}
