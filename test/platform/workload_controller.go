package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/causeway-webhook/causeway/test/computeapi"
)

// workloadController is today's workload controller (section 5).
type workloadController struct {
	*Controller
	locations *locationList
	missing   *nameSet
}

func newWorkloadController(o Options) (*workloadController, error) {
	base, err := newController(o, WorkloadControllerUser, o.Workload)
	if err != nil {
		return nil, err
	}
	c := &workloadController{Controller: base, locations: &locationList{}, missing: &nameSet{}}
	c.locations.set(o.Locations)
	// No predicate: it wakes on every event of a Workload, its own status
	// writes included, and on every event of a deployment it owns.
	return c, c.complete(c.build("workload").
		For(&computeapi.Workload{}).
		Owns(&computeapi.WorkloadDeployment{}), c.reconcile,
		&computeapi.Workload{}, &computeapi.WorkloadDeployment{})
}

func (c *workloadController) reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var none reconcile.Result
	var workload computeapi.Workload
	if err := c.client.Get(ctx, request.NamespacedName, &workload); err != nil {
		return none, client.IgnoreNotFound(err)
	}
	if !workload.DeletionTimestamp.IsZero() {
		return none, nil
	}
	stored := workload.DeepCopy()

	if missing := c.missingNetworks(&workload); len(missing) > 0 {
		// An early return: counts and placements stay as they were.
		Verdict{metav1.ConditionFalse, "NetworkNotFound", "Unable to find networks: " + strings.Join(missing, ", ")}.
			set(&workload.Status.Conditions, computeapi.AvailableCondition, 0)
		return none, c.status.write(ctx, &workload, stored)
	}

	locations := c.locations.get()
	if len(locations) == 0 {
		return none, errors.New("the platform has no location")
	}
	deployments, err := c.deploy(ctx, &workload, locations)
	if err != nil {
		return none, err
	}

	setWorkloadStatus(&workload, deployments)
	// The real guard against needless writes compares a value with a pointer
	// and never matches, so every pass sends the full status.
	return none, c.status.write(ctx, &workload, stored)
}

func (c *workloadController) missingNetworks(workload *computeapi.Workload) []string {
	var missing []string
	for _, nic := range workload.Spec.Template.Spec.NetworkInterfaces {
		if c.missing.has(nic.Network.Name) {
			missing = append(missing, nic.Network.Name)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// deploy makes, updates and deletes deployments until there is one for each
// location of each placement, and returns those that exist afterwards.
func (c *workloadController) deploy(ctx context.Context, workload *computeapi.Workload, locations []Location) ([]computeapi.WorkloadDeployment, error) {
	var existing computeapi.WorkloadDeploymentList
	err := c.client.List(ctx, &existing, client.InNamespace(workload.Namespace),
		client.MatchingLabels{computeapi.WorkloadUIDLabel: string(workload.UID)})
	if err != nil {
		return nil, fmt.Errorf("listing deployments: %w", err)
	}
	byName := map[string]computeapi.WorkloadDeployment{}
	for _, deployment := range existing.Items {
		byName[deployment.Name] = deployment
	}

	wanted := map[string]bool{}
	for _, placement := range workload.Spec.Placements {
		names, err := matching(placement, locations)
		if err != nil {
			return nil, fmt.Errorf("placement %q: %w", placement.Name, err)
		}
		for _, location := range names {
			deployment := newDeployment(workload, placement, location)
			wanted[deployment.Name] = true
			stored, exists := byName[deployment.Name]
			if deployment, err = c.store(ctx, deployment, stored, exists); err != nil {
				return nil, err
			}
			byName[deployment.Name] = *deployment
		}
	}
	for name, deployment := range byName {
		if wanted[name] || !deployment.DeletionTimestamp.IsZero() {
			continue
		}
		if err := c.client.Delete(ctx, &deployment); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("deleting deployment %q: %w", name, err)
		}
	}

	deployments := make([]computeapi.WorkloadDeployment, 0, len(byName))
	for _, deployment := range byName {
		deployments = append(deployments, deployment)
	}
	slices.SortFunc(deployments, func(a, b computeapi.WorkloadDeployment) int { return strings.Compare(a.Name, b.Name) })
	return deployments, nil
}

// store creates a deployment, or brings the stored one up to date.
func (c *workloadController) store(ctx context.Context, wanted *computeapi.WorkloadDeployment, stored computeapi.WorkloadDeployment, exists bool) (*computeapi.WorkloadDeployment, error) {
	if !exists {
		if err := c.client.Create(ctx, wanted); err != nil && !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("creating deployment %q: %w", wanted.Name, err)
		}
		return wanted, nil
	}
	if !updateDeployment(&stored, wanted) {
		return &stored, nil
	}
	if err := c.client.Update(ctx, &stored); err != nil {
		return nil, fmt.Errorf("updating deployment %q: %w", wanted.Name, err)
	}
	return &stored, nil
}

// nameSet is a set of names that a test may change.
type nameSet struct {
	mu    sync.RWMutex
	names []string
}

func (s *nameSet) set(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names = slices.Clone(names)
}

func (s *nameSet) has(name string) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Contains(s.names, name)
}
