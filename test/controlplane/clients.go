package controlplane

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Config returns the configuration of an ordinary user, who may do what RBAC
// objects grant to that name and those groups, and nothing else.
//
// It panics for the group system:masters, which this package promises that
// nobody is in, and if the system has no randomness for a key.
func (cp *ControlPlane) Config(user string, groups ...string) *rest.Config {
	if slices.Contains(groups, "system:masters") {
		panic("nobody is in " + "system:masters" + " here; use AdminConfig")
	}
	pair, err := cp.ca.client(user, groups...)
	if err != nil {
		panic(err)
	}
	cfg := cp.anonymousConfig()
	cfg.CertData = pair.cert
	cfg.KeyData = pair.key
	return cfg
}

// AdminConfig returns the configuration of the user who may do everything.
func (cp *ControlPlane) AdminConfig() *rest.Config { return cp.Config(Installer) }

// ServiceAccountConfig returns the configuration of a service account, which
// has to exist, with a token good for a day.
func (cp *ControlPlane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := kubernetes.NewForConfig(cp.AdminConfig())
	if err != nil {
		return nil, err
	}
	seconds := int64((24 * time.Hour).Seconds())
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("get a token for service account %s/%s: %w", namespace, name, err)
	}
	cfg := cp.anonymousConfig()
	cfg.BearerToken = token.Status.Token
	return cfg, nil
}

// anonymousConfig reaches the API server as nobody. Client-side rate limits are
// off: they would slow a test down, and hide what the server itself does.
func (cp *ControlPlane) anonymousConfig() *rest.Config {
	return &rest.Config{
		Host:            cp.URL(),
		TLSClientConfig: rest.TLSClientConfig{CAData: cp.CA()},
		QPS:             -1,
	}
}

// KubeconfigFor returns cfg as a kubeconfig file with all keys inside.
func KubeconfigFor(cfg *rest.Config) ([]byte, error) {
	const name = "causeway"
	out, err := clientcmd.Write(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server:                   cfg.Host,
			CertificateAuthorityData: cfg.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: cfg.CertData,
			ClientKeyData:         cfg.KeyData,
			Token:                 cfg.BearerToken,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	})
	if err != nil {
		return nil, fmt.Errorf("encode a kubeconfig: %w", err)
	}
	return out, nil
}

// WriteKubeconfig writes cfg to path, readable by this user alone.
func WriteKubeconfig(path string, cfg *rest.Config) error {
	data, err := KubeconfigFor(cfg)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	return nil
}
