package certs

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Defaults of SelfManagedOptions.
const (
	DefaultAuthorityLifetime = 365 * 24 * time.Hour
	DefaultServingLifetime   = 30 * 24 * time.Hour
)

const (
	// roundEvery bounds how often one process looks and writes; a change is noticed by a watch and answered within it.
	// Two that want different things, say because their clocks do, thus cost a few requests a second and no more.
	roundEvery = 250 * time.Millisecond
	// roundAtLeastEvery is for what a watch may have missed.
	roundAtLeastEvery = time.Minute
	// roundAfterError is how long a fault that is no other replica's doing is left alone, unless something changes.
	roundAfterError = 5 * time.Second
	// roundTimeout bounds one round: at most a read and a write of each object.
	roundTimeout = 10 * time.Second
)

// SelfManagedOptions configure SelfManaged. Secrets, Secret and Configurations are required.
type SelfManagedOptions struct {
	// Secrets reads and writes the Secret.
	Secrets typed.CoreV1Interface
	// Secret is where the authority and the certificate are kept, for all replicas and both sub-commands.
	Secret types.NamespacedName
	// Configurations are given the authority, and say for which names the certificate is.
	Configurations Configurations
	// AuthorityLifetime and ServingLifetime are how long what is issued is good for; zero means the default.
	AuthorityLifetime, ServingLifetime time.Duration
	// Settle is how long a new authority must have been trusted before it signs what is served; zero means three seconds.
	Settle time.Duration
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Logger; the zero value is silent.
	Logger logr.Logger
}

// SelfManaged is a Source that issues for itself.
//
// The Secret is the truth. Every replica works on it at once, without a lease: each write carries the version that was
// read, and whoever comes second reads again and mostly finds nothing left to do. A round reads the Secret and the
// configurations live, issues what is due (plan.go), has the configurations trust it, and chooses what to serve. A watch
// and a tick only start rounds, so a missed event or a suspended machine costs time and never the truth.
//
// open-policy-agent/cert-controller, the library for this, replaces its authority with no overlap of old and new, counts
// serial numbers from 0, says not why it rotates, ends the process to have a new certificate read, and cannot be
// cancelled. cert-manager's dynamic source writes no caBundle, signs for every replica apart, and drops the old authority.
type SelfManaged struct {
	options   SelfManagedOptions
	lifetimes lifetimes
	choice    choice
	names     atomic.Pointer[[]string]

	// What follows belongs to one goroutine at a time: that of NewSelfManaged, then that of Start.
	held      holding
	renewedAt time.Time // this process last issued an authority
}

var _ Source = (*SelfManaged)(nil)

// NewSelfManaged returns when there is a certificate and the configurations trust it, or ctx has ended.
func NewSelfManaged(ctx context.Context, o SelfManagedOptions) (*SelfManaged, error) {
	if o.Secrets == nil || o.Secret.Name == "" || o.Secret.Namespace == "" || o.Configurations.Client == nil {
		return nil, errors.New("self-managed certificates need a Secret and webhook configurations")
	}
	if o.AuthorityLifetime <= 0 {
		o.AuthorityLifetime = DefaultAuthorityLifetime
	}
	if o.ServingLifetime <= 0 {
		o.ServingLifetime = DefaultServingLifetime
	}
	if o.Settle <= 0 {
		o.Settle = defaultSettle
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &SelfManaged{options: o, lifetimes: lifetimes{o.AuthorityLifetime, o.ServingLifetime}, choice: choice{settle: o.Settle}}
	s.names.Store(&[]string{})
	again := time.NewTicker(roundEvery)
	defer again.Stop()
	for {
		err := s.round(ctx)
		switch {
		case err == nil:
			return s, nil
		case apierrors.IsForbidden(err):
			return nil, fmt.Errorf("%w: apply deploy/components/self-managed", err)
		case !outrun(err):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-again.C:
		}
	}
}

// GetCertificate returns the newest certificate that is trusted.
func (s *SelfManaged) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return s.choice.served.Load(), nil
}

// Ready judges the certificate being served.
func (s *SelfManaged) Ready() error {
	return Check(s.choice.served.Load(), *s.names.Load(), s.options.Now()).Err()
}

// Start works until ctx ends.
func (s *SelfManaged) Start(ctx context.Context) error {
	events, stopped := s.watch(ctx)
	defer stopped()
	tick := time.NewTicker(roundEvery)
	defer tick.Stop()
	var last, pauseUntil time.Time
	var lastError string // logged when it changes, not at each attempt
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := time.Now() // not the injected clock: these are pauses between rounds
		select {
		case <-events:
		default:
			if now.Before(pauseUntil) || now.Sub(last) < roundAtLeastEvery && !s.due(s.options.Now()) {
				continue
			}
		}
		err := s.round(ctx)
		last, pauseUntil = now, time.Time{}
		switch {
		case ctx.Err() != nil:
		case err == nil:
			lastError = ""
		case outrun(err):
			last = time.Time{} // again at the next tick
		default:
			pauseUntil = now.Add(roundAfterError)
			if err.Error() != lastError {
				lastError = err.Error()
				s.options.Logger.Error(err, "Could not keep the serving certificate up to date")
			}
		}
	}
}

// outrun tells whether another replica was faster: a reason to look again, and none to complain.
func outrun(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

// due tells, from memory, whether a round would change anything now. It asks the wall clock each time: a timer set for
// the day of the renewal would count no time that the machine was suspended, or by which its clock was corrected.
func (s *SelfManaged) due(now time.Time) bool {
	return s.choice.pending() || s.lifetimes.authorityDue(s.held, now) != "" ||
		s.lifetimes.servingDue(s.held, now) != "" || Check(s.held.serving, *s.names.Load(), now).Problem != None
}

// round does everything once, and nothing if nothing is due.
func (s *SelfManaged) round(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, roundTimeout)
	defer cancel()
	secret, err := s.options.Secrets.Secrets(s.options.Secret.Namespace).Get(ctx, s.options.Secret.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		secret, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("reading Secret %s: %w", s.options.Secret, err)
	}
	configurations, err := s.options.Configurations.read(ctx)
	if err != nil {
		return err
	}
	now := s.options.Now()
	callers := callersOf(configurations)
	names := hostsOf(callers)
	s.names.Store(&names)

	held, err := s.keep(ctx, secret, callers, names, now)
	if err != nil {
		return err
	}
	for i, one := range configurations {
		after, changed, err := s.options.Configurations.trust(ctx, one, held.authorities, now)
		if err != nil {
			return err
		}
		if changed {
			s.options.Logger.Info("Had a webhook configuration trust the authorities", "name", one.name, "authorities", len(held.authorities))
		}
		configurations[i] = after
	}
	s.serve(held, callersOf(configurations), now)
	return nil
}

// keep brings the Secret up to date and returns what it holds then.
func (s *SelfManaged) keep(ctx context.Context, secret *corev1.Secret, callers []Caller, names []string, now time.Time) (holding, error) {
	var before holding
	if secret != nil {
		before = parseHolding(secret.Data)
	}
	trusted := s.choice.see(callers, now) && before.trustedBy(callers)
	held, reasons, err := s.lifetimes.renew(before, names, trusted, now)
	if err != nil || len(reasons) == 0 {
		return held, err
	}
	renewed := len(before.authorities) == 0 || !held.authorities[0].Equal(before.authorities[0])
	if renewed && s.tooSoon(before, now) {
		return before, nil
	}
	data, err := held.data()
	if err != nil {
		return held, err
	}
	if err := s.write(ctx, secret, data); err != nil {
		return held, fmt.Errorf("writing Secret %s: %w", s.options.Secret, err)
	}
	if renewed {
		s.renewedAt = now
	}
	s.options.Logger.Info("Renewed what serves", "reason", strings.Join(reasons, "; "))
	return held, nil
}

// tooSoon holds back a second authority within a minute, as long as there is one at all: where clocks disagree, each
// replica finds the other's not yet valid, and they would replace it in turn.
func (s *SelfManaged) tooSoon(before holding, now time.Time) bool {
	return len(before.authorities) > 0 && before.serving != nil && !s.renewedAt.IsZero() &&
		now.Sub(s.renewedAt).Abs() < min(time.Minute, s.lifetimes.authority/4)
}

// write creates the Secret or replaces its data. It fails if somebody else did so since it was read.
func (s *SelfManaged) write(ctx context.Context, secret *corev1.Secret, data map[string][]byte) error {
	secrets := s.options.Secrets.Secrets(s.options.Secret.Namespace)
	if secret == nil {
		_, err := secrets.Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Name: s.options.Secret.Name, Namespace: s.options.Secret.Namespace,
				Labels: map[string]string{"app.kubernetes.io/name": "causeway"},
			},
			Type: corev1.SecretTypeTLS,
			Data: data,
		}, metav1.CreateOptions{FieldManager: fieldManager})
		return err
	}
	patch, err := json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/resourceVersion", "value": secret.ResourceVersion},
		{"op": "add", "path": "/data", "value": data},
	})
	if err != nil {
		return err
	}
	_, err = secrets.Patch(ctx, secret.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	return err
}

// serve chooses what is shown from now on.
func (s *SelfManaged) serve(held holding, callers []Caller, now time.Time) {
	if s.held.serving == nil || !s.held.serving.Leaf.Equal(held.serving.Leaf) {
		s.choice.offer(held.serving)
	}
	s.held = held
	if news := s.choice.decide(callers, now); news != "" {
		s.options.Logger.Info(news, "notAfter", stamp(s.choice.served.Load().Leaf.NotAfter), "names", namesOf(s.choice.served.Load().Leaf))
	}
}
