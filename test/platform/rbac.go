package platform

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	rbacclient "k8s.io/client-go/kubernetes/typed/rbac/v1"
	"k8s.io/client-go/rest"
)

//go:embed rbac.yaml
var rbacYAML []byte

// InstallRBAC gives Users their rights: the ClusterRoles of rbac.yaml, and for
// each a ClusterRoleBinding to the user of the same name. It may be called
// again. cfg must be allowed to grant them.
func InstallRBAC(ctx context.Context, cfg *rest.Config) error {
	roles, err := clusterRoles()
	if err != nil {
		return err
	}
	client, err := rbacclient.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("connecting to install the platform's RBAC: %w", err)
	}
	for _, role := range roles {
		if _, err := client.ClusterRoles().Create(ctx, &role, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating cluster role %q: %w", role.Name, err)
		}
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role.Name}},
		}
		if _, err := client.ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating cluster role binding %q: %w", role.Name, err)
		}
	}
	return nil
}

// clusterRoles returns the roles of rbac.yaml.
func clusterRoles() ([]rbacv1.ClusterRole, error) {
	var roles []rbacv1.ClusterRole
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(rbacYAML), 4096)
	for {
		var role rbacv1.ClusterRole
		switch err := decoder.Decode(&role); {
		case errors.Is(err, io.EOF):
			return roles, nil
		case err != nil:
			return nil, fmt.Errorf("reading rbac.yaml: %w", err)
		}
		roles = append(roles, role)
	}
}
