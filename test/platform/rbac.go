package platform

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"

	"github.com/causeway-webhook/causeway/test/install"
)

//go:embed rbac.yaml
var rbacYAML []byte

// InstallRBAC gives Users their rights: the ClusterRoles of rbac.yaml, and for
// each a ClusterRoleBinding to the user of the same name. They count when it
// returns. It may be called again. cfg must be allowed to grant them.
func InstallRBAC(ctx context.Context, cfg *rest.Config) error {
	roles, err := clusterRoles()
	if err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	for _, role := range roles {
		both, err := install.Untyped(&role, &rbacv1.ClusterRoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: role.Name}},
		})
		if err != nil {
			return err
		}
		objects = append(objects, both...)
	}
	return install.Install(ctx, cfg, objects, install.Options{})
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
