package deploy

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tellsAgain has an Instance crash, recover, and crash again, until the event of
// the first time is counted up instead of written anew.
func tellsAgain(t *testing.T, f *family, audit auditLog, user string) {
	bothAreTold := func(eventType string) {
		t.Helper()
		waitUntil(t, "a "+eventType+" event on both parents", func() (bool, string) {
			var all eventsv1.EventList
			require.NoError(t, f.client.List(t.Context(), &all, client.InNamespace(f.workload.Namespace)))
			kinds := map[string]bool{}
			for _, e := range all.Items {
				if e.Type == eventType && e.Regarding.Name == f.workload.Name {
					kinds[e.Regarding.Kind] = true
				}
			}
			return len(kinds) == 2, strconv.Itoa(len(all.Items)) + " events"
		})
	}
	require.NoError(t, f.crash(t.Context(), "To be told."))
	bothAreTold("Warning")
	require.NoError(t, f.recovers(t.Context()))
	bothAreTold("Normal")
	require.NoError(t, f.crash(t.Context(), "Once more."))
	waitUntil(t, "the event to be counted up", func() (bool, string) {
		for _, e := range audit.of(t, user) {
			if e.ObjectRef.Resource == "events" && e.Verb == "patch" {
				return true, ""
			}
		}
		return false, "it is not"
	})
}
