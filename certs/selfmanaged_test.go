package certs

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// replica is one SelfManaged over an API server in memory, which has one configuration and keeps no versions. What
// several do at once is tested on a real one, in test/e2e.
type replica struct {
	t      *testing.T
	api    *fake.Clientset
	now    time.Time
	writes []string // verb and resource of each
	log    []string
}

func newReplica(t *testing.T) *replica {
	t.Helper()
	url := "https://a.example/review"
	r := &replica{t: t, now: noon, api: fake.NewClientset(&admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "own", ResourceVersion: "1"},
		Webhooks:   []admissionregistrationv1.ValidatingWebhook{{Name: "one", ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url}}},
	})}
	r.api.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if create, ok := a.(clienttesting.CreateAction); ok {
			create.GetObject().(*corev1.Secret).ResourceVersion = "1"
		}
		if a.GetVerb() != "get" {
			r.writes = append(r.writes, a.GetVerb()+" "+a.GetResource().Resource)
		}
		return false, nil, nil
	})
	return r
}

// refuse answers the next request of that kind with an error.
func (r *replica) refuse(verb, resource string, err error) {
	once := false
	r.api.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		first := !once
		once = true
		return first, nil, err
	})
}

func (r *replica) options() SelfManagedOptions {
	return SelfManagedOptions{
		Secrets: r.api.CoreV1(), Secret: types.NamespacedName{Namespace: "ns", Name: "secret"},
		Configurations: Configurations{Client: r.api.AdmissionregistrationV1(), Validating: "own", Mutating: "absent"},
		Now:            func() time.Time { return r.now },
		Logger:         funcr.New(func(_, line string) { r.log = append(r.log, line) }, funcr.Options{}),
	}
}

func (r *replica) start() *SelfManaged {
	r.t.Helper()
	s, err := NewSelfManaged(r.t.Context(), r.options())
	require.NoError(r.t, err)
	return s
}

// bundle is what the configuration trusts.
func (r *replica) bundle() []byte {
	r.t.Helper()
	o, err := r.api.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(r.t.Context(), "own", metav1.GetOptions{})
	require.NoError(r.t, err)
	return o.Webhooks[0].ClientConfig.CABundle
}

func (r *replica) trusted(s *SelfManaged) bool {
	cert, err := s.GetCertificate(nil)
	require.NoError(r.t, err)
	return verifies(r.bundle(), "a.example", cert, r.now)
}

func TestSelfManagedThroughThreeRenewalsOfItsAuthority(t *testing.T) {
	r := newReplica(t)
	s := r.start()
	assert.Equal(t, []string{"create secrets", "patch validatingwebhookconfigurations"}, r.writes)
	require.NoError(t, s.round(t.Context()))
	assert.Len(t, r.writes, 2, "what is right is not written")
	assert.False(t, s.due(r.now))

	seen := map[string]bool{}
	for end := noon.AddDate(2, 2, 0); r.now.Before(end); {
		// A day passes; while something is due, the loop comes back within seconds.
		r.now = r.now.AddDate(0, 0, 1)
		for i := 0; i < 5 && s.due(r.now); i++ {
			require.NoError(t, s.round(t.Context()))
			require.True(t, r.trusted(s), "at %s", r.now)
			r.now = r.now.Add(2 * time.Second)
		}
		require.False(t, s.due(r.now))
		require.NoError(t, s.Ready())
		seen[s.held.authorities[0].SerialNumber.String()] = true
	}
	assert.Len(t, seen, 4, "the first and three more")
}

func TestSelfManagedAfterItsClockJumped(t *testing.T) {
	r := newReplica(t)
	s := r.start()
	for _, jump := range []int{3, -5, 4} { // years: a machine that was suspended, a clock that was set wrong, and right again
		r.now = r.now.AddDate(jump, 0, 0)
		require.Error(t, s.Ready())
		require.True(t, s.due(r.now))
		require.NoError(t, s.round(t.Context()))
		require.NoError(t, s.Ready(), "one round mends it")
		require.True(t, r.trusted(s))
	}
}

func TestSelfManagedGivesWayToAFasterReplica(t *testing.T) {
	exists := apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, "secret")
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "x"}, "own", errors.New("changed"))
	r := newReplica(t)
	r.refuse("create", "secrets", exists)
	r.refuse("patch", "validatingwebhookconfigurations", conflict)
	s := r.start()
	require.True(t, r.trusted(s))
	other := r.start()
	assert.Equal(t, s.held.serving.Certificate, other.held.serving.Certificate, "the Secret is shared")

	r.now = r.now.AddDate(0, 0, 25)
	r.refuse("patch", "secrets", conflict)
	require.True(t, outrun(s.round(t.Context())))
	require.NoError(t, s.Ready(), "and goes on with what it has")
	require.NoError(t, s.round(t.Context()))
	assert.Contains(t, r.log[len(r.log)-2], "issued a new serving certificate: the old one ends at 2030-01-31T12:00:00Z")
}

func TestSelfManagedSaysWhatIsMissing(t *testing.T) {
	for resource, want := range map[string]string{
		"secrets":                         `reading Secret ns/secret: secrets "x" is forbidden: no: apply deploy/components/self-managed`,
		"validatingwebhookconfigurations": `reading the webhook configurations: validatingwebhookconfigurations "x" is forbidden: no: apply deploy/components/self-managed`,
	} {
		r := newReplica(t)
		r.refuse("get", resource, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "x", errors.New("no")))
		_, err := NewSelfManaged(t.Context(), r.options())
		assert.EqualError(t, err, want)
	}
	_, err := NewSelfManaged(t.Context(), SelfManagedOptions{})
	assert.Error(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := newReplica(t)
	r.refuse("create", "secrets", apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, "secret"))
	_, err = NewSelfManaged(ctx, r.options())
	assert.Error(t, err, "it can be cancelled")
}
