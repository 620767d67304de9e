package install

import (
	"context"
	"errors"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// waitGranted waits until the bindings among objects count: the authorizer hears
// of roles and of bindings a moment after they are stored, and who asks before
// is told that he may not.
func waitGranted(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, servedTimeout)
	defer cancel()
	for _, obj := range objects {
		kind := obj.GroupVersionKind().GroupKind()
		if kind.Group != rbacv1.GroupName || kind.Kind != "RoleBinding" && kind.Kind != "ClusterRoleBinding" {
			continue
		}
		var binding rbacv1.RoleBinding // one of the cluster has the same fields
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &binding); err != nil {
			return err
		}
		if err := poll(ctx, func(ctx context.Context) error { return granted(ctx, c, &binding) }); err != nil {
			return fmt.Errorf("wait for %s: %w", describe(obj), err)
		}
	}
	return nil
}

// granted asks for one thing that a binding grants.
func granted(ctx context.Context, c client.Client, binding *rbacv1.RoleBinding) error {
	rules, err := rulesOf(ctx, c, binding)
	if err != nil {
		return err
	}
	asked := oneOf(rules)
	if asked == nil || len(binding.Subjects) == 0 {
		return nil
	}
	asked.Namespace = binding.Namespace
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{ResourceAttributes: asked}}
	switch subject := binding.Subjects[0]; subject.Kind {
	case rbacv1.ServiceAccountKind:
		review.Spec.User = "system:serviceaccount:" + subject.Namespace + ":" + subject.Name
	case rbacv1.GroupKind:
		review.Spec.Groups = []string{subject.Name}
	default:
		review.Spec.User = subject.Name
	}
	if err := c.Create(ctx, review); err != nil {
		return err
	}
	if !review.Status.Allowed {
		return errors.New("what it grants is not allowed yet")
	}
	return nil
}

// rulesOf are those of the role that a binding names; a role that is not there
// has none.
func rulesOf(ctx context.Context, c client.Client, binding *rbacv1.RoleBinding) ([]rbacv1.PolicyRule, error) {
	key := client.ObjectKey{Name: binding.RoleRef.Name}
	if binding.RoleRef.Kind == "Role" {
		key.Namespace = binding.Namespace
		role := &rbacv1.Role{}
		err := c.Get(ctx, key, role)
		return role.Rules, client.IgnoreNotFound(err)
	}
	role := &rbacv1.ClusterRole{}
	err := c.Get(ctx, key, role)
	return role.Rules, client.IgnoreNotFound(err)
}

// oneOf is something that the rules allow to do with a resource, or nil.
func oneOf(rules []rbacv1.PolicyRule) *authorizationv1.ResourceAttributes {
	for _, rule := range rules {
		if len(rule.Verbs) == 0 || len(rule.APIGroups) == 0 || len(rule.Resources) == 0 {
			continue
		}
		asked := &authorizationv1.ResourceAttributes{Verb: rule.Verbs[0], Group: rule.APIGroups[0]}
		asked.Resource, asked.Subresource, _ = strings.Cut(rule.Resources[0], "/")
		if len(rule.ResourceNames) > 0 {
			asked.Name = rule.ResourceNames[0]
		}
		return asked
	}
	return nil
}
