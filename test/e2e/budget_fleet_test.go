package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/test/computeapi"
	"github.com/causeway-webhook/causeway/test/environment"
)

// fleet is a Workload of several deployments whose objects the test writes
// itself, so that nobody else writes and each write can be measured.
type fleet struct {
	*scene
	workload    string
	deployments []string
	replicas    int
}

// newFleet creates the objects and returns when all Instances are ready and both
// kinds of parent say so.
func (s *scene) newFleet(workload string, deployments, replicas int) *fleet {
	s.t.Helper()
	f := &fleet{scene: s, workload: workload, replicas: replicas}
	tweaks := make([]computeapi.WorkloadTweak, deployments)
	for i := range tweaks {
		tweaks[i] = computeapi.WithPlacement("p"+strconv.Itoa(i), int32(replicas), "us")
	}
	w := computeapi.NewWorkload(namespace, workload, tweaks...)
	require.NoError(s.t, s.customer.Create(s.ctx, w))
	yes := true
	for i := range deployments {
		d := &computeapi.WorkloadDeployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: workload + "-" + strconv.Itoa(i), OwnerReferences: []metav1.OwnerReference{{
				APIVersion: computeapi.GroupVersion.String(), Kind: "Workload", Name: w.Name, UID: w.UID, Controller: &yes,
			}}},
			Spec: computeapi.WorkloadDeploymentSpec{
				WorkloadRef: computeapi.WorkloadReference{Name: w.Name, UID: w.UID}, PlacementName: w.Spec.Placements[i].Name,
				LocationRef: &computeapi.LocationReference{Name: "us"},
				Template:    w.Spec.Template, ScaleSettings: w.Spec.Placements[i].ScaleSettings,
			},
		}
		require.NoError(s.t, s.customer.Create(s.ctx, d))
		f.deployments = append(f.deployments, d.Name)
		var group sync.WaitGroup
		errs := make([]error, replicas)
		for n := range replicas {
			group.Go(func() {
				o := &computeapi.Instance{
					ObjectMeta: metav1.ObjectMeta{
						Namespace: namespace, Name: f.instance(i, n),
						Labels: map[string]string{computeapi.InstanceIndexLabel: strconv.Itoa(n)},
						OwnerReferences: []metav1.OwnerReference{{
							APIVersion: computeapi.GroupVersion.String(), Kind: "WorkloadDeployment", Name: d.Name, UID: d.UID, Controller: &yes,
						}},
					},
					Spec: w.Spec.Template.Spec,
				}
				if errs[n] = s.customer.Create(s.ctx, o); errs[n] == nil {
					errs[n] = patchConditions(s.ctx, s.customer, o.Name, fleetReady)
				}
			})
		}
		group.Wait()
		for _, err := range errs {
			require.NoError(s.t, err)
		}
		counts := int32(replicas)
		d.Status = computeapi.WorkloadDeploymentStatus{Replicas: counts, CurrentReplicas: counts, UpdatedReplicas: counts, DesiredReplicas: counts, ReadyReplicas: counts}
		require.NoError(s.t, s.customer.Status().Update(s.ctx, d))
	}
	counts := int32(deployments * replicas)
	w.Status = computeapi.WorkloadStatus{Deployments: int32(deployments), Replicas: counts, CurrentReplicas: counts, UpdatedReplicas: counts, DesiredReplicas: counts, ReadyReplicas: counts}
	require.NoError(s.t, s.customer.Status().Update(s.ctx, w))
	s.waitFor("the parents to say that all is well", f.isTrue)
	return f
}

// instance is the name of a deployment's Instance.
func (f *fleet) instance(deployment, n int) string {
	return fmt.Sprintf("%s-%d-%d", f.workload, deployment, n)
}

// isTrue tells whether every parent's Available is True and sums up all.
func (f *fleet) isTrue() (bool, string) {
	for _, d := range f.deployments {
		want := said{metav1.ConditionTrue, "StableInstanceFound", fmt.Sprintf("%d/%d instances are ready", f.replicas, f.replicas)}
		if got := f.deploymentSays(d); got != want {
			return false, d + ": " + got.Message
		}
	}
	got := f.workloadSays(f.workload)
	return got == said{metav1.ConditionTrue, "AvailablePlacementFound", "At least one available placement was found"}, f.workload + ": " + got.Message
}

// all tells whether both kinds of parent say this of every Instance of the only
// deployment.
func (f *fleet) all(in fleetState) func() (bool, string) {
	return func() (bool, string) {
		d, w := f.deploymentSays(f.deployments[0]), f.workloadSays(f.workload)
		tells := func(got said) bool {
			return got.Reason == in.reason && strings.HasPrefix(got.Message, fmt.Sprintf("%d of %d instances ", f.replicas, f.replicas)) &&
				strings.HasSuffix(got.Message, ": "+in.message+".")
		}
		return tells(d) && tells(w), d.Message + " / " + w.Message
	}
}

// fleetState is what an Instance's conditions say.
type fleetState struct {
	status          metav1.ConditionStatus
	reason, message string
}

var (
	fleetReady      = fleetState{metav1.ConditionTrue, "Available", "Instance is ready"}
	fleetCrashes    = fleetState{metav1.ConditionFalse, "InstanceCrashing", "it exits"}
	fleetLacksImage = fleetState{metav1.ConditionFalse, "ImageUnavailable", "no such image"}
)

// patchConditions writes an Instance's conditions as a provider does.
func patchConditions(ctx context.Context, c client.Client, name string, s fleetState) error {
	conditions := make([]metav1.Condition, 0, 3)
	for _, conditionType := range []string{computeapi.ProgrammedCondition, computeapi.AvailableCondition, computeapi.ReadyCondition} {
		conditions = append(conditions, metav1.Condition{
			Type: conditionType, Status: s.status, Reason: s.reason, Message: s.message, LastTransitionTime: metav1.Now().Rfc3339Copy(),
		})
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions}})
	if err != nil {
		return err
	}
	i := &computeapi.Instance{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	return c.Status().Patch(ctx, i, client.RawPatch(types.MergePatchType, patch))
}

// author is an ordinary user who notes what the API server warns of.
type author struct {
	client.Client
	heard warnings
}

type warnings struct {
	mu   sync.Mutex
	text []string
}

// HandleWarningHeader satisfies rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text)
}

func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.text
	w.text = nil
	return text
}

// newAuthor makes a client of that configuration. It gives up after a minute, so
// that no test hangs.
func (s *scene) newAuthor(config *rest.Config) *author {
	s.t.Helper()
	a := &author{}
	config.WarningHandler = &a.heard
	config.Timeout = time.Minute
	http, err := rest.HTTPClientFor(config)
	require.NoError(s.t, err)
	a.Client, err = client.New(config, client.Options{Scheme: s.customer.Scheme(), HTTPClient: http})
	require.NoError(s.t, err)
	s.t.Cleanup(http.CloseIdleConnections)
	return a
}

// write has the author write an Instance, and tells how long that took and what
// it was warned of. A write that fails, fails the test.
func (a *author) write(s *scene, name string, to fleetState) (took time.Duration, warned []string) {
	s.t.Helper()
	a.heard.take()
	began := time.Now()
	require.NoError(s.t, patchConditions(s.ctx, a, name, to), "the write of %s", name)
	return time.Since(began), a.heard.take()
}

// metric sums what a process counts under a name with all of these labels, each
// as label="value".
func (s *scene) metric(p *environment.Process, name string, labels ...string) float64 {
	s.t.Helper()
	text, err := p.Metrics(s.ctx)
	require.NoError(s.t, err)
	return sumOf(text, name, labels...)
}

// serverMetrics is what the API server counts, for sumOf.
func (s *scene) serverMetrics() string {
	s.t.Helper()
	admin := s.AdminConfig()
	c, err := rest.HTTPClientFor(admin)
	require.NoError(s.t, err)
	defer c.CloseIdleConnections()
	r, err := http.NewRequestWithContext(s.ctx, http.MethodGet, admin.Host+"/metrics", nil)
	require.NoError(s.t, err)
	answer, err := c.Do(r)
	require.NoError(s.t, err)
	defer answer.Body.Close()
	text := new(strings.Builder)
	_, err = io.Copy(text, answer.Body)
	require.NoError(s.t, err)
	return text.String()
}

// sumOf adds up the series of a name that have all of these labels.
func sumOf(text, name string, labels ...string) float64 {
	total := 0.0
	for line := range strings.Lines(text) {
		series, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		for _, label := range labels {
			ok = ok && strings.Contains(series, label)
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil && ok {
			total += v
		}
	}
	return total
}

// patchCounts writes a parent's status as its controller does when a count
// changes.
func patchCounts(ctx context.Context, c client.Client, o client.Object, current int) error {
	patch := fmt.Sprintf(`{"status":{"currentReplicas":%d}}`, current)
	return c.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(patch)))
}
