package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/causeway-webhook/causeway/test/environment"
)

// The active process, and no other, is in the EndpointSlice of the selector-less
// Service; it leaves when it hands over.
func TestTheEndpointSliceFollowsTheActiveProcess(t *testing.T) {
	s := start(t, environment.Options{})
	slice := "--endpoint-slice=" + environment.Namespace + "/" + environment.ServiceStatus
	first, err := s.StartSidecar(s.ctx, slice, "--advertise-address=10.0.0.1")
	require.NoError(t, err)
	core, err := kubernetes.NewForConfig(s.AdminConfig())
	require.NoError(t, err)
	addresses := func() []string {
		o, err := core.DiscoveryV1().EndpointSlices(environment.Namespace).Get(s.ctx, environment.ServiceStatus, metav1.GetOptions{})
		require.NoError(t, err)
		var all []string
		for _, e := range o.Endpoints {
			all = append(all, e.Addresses...)
		}
		require.Equal(t, discoveryv1.AddressTypeIPv4, o.AddressType)
		return all
	}
	points := func(want ...string) func() (bool, string) {
		return func() (bool, string) {
			got := addresses()
			return len(got) == len(want) && (len(want) == 0 || got[0] == want[0]), "it points to " + strings.Join(got, ", ")
		}
	}
	s.waitFor("the slice to point to the first process", points("10.0.0.1"))
	second, err := s.StartSidecar(s.ctx, slice, "--advertise-address=10.0.0.2")
	require.NoError(t, err)

	require.NoError(t, first.Stop())
	s.within(promise, "the slice to point to the second process", points("10.0.0.2"))
	require.NoError(t, second.Stop())
	s.within(promise, "the slice to be empty", points())

	third, err := s.StartSidecar(s.ctx, slice, "--advertise-address=10.0.0.3")
	require.NoError(t, err)
	s.waitFor("the slice to point to the third process", points("10.0.0.3"))
	fourth, err := s.StartSidecar(s.ctx, slice, "--advertise-address=10.0.0.4")
	require.NoError(t, err)
	third.Kill()
	s.within(promise, "the slice to point to the fourth process", points("10.0.0.4"))
	require.False(t, fourth.Ended())
}
