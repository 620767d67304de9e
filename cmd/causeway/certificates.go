package main

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	admissionregistrationv1 "k8s.io/client-go/kubernetes/typed/admissionregistration/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/causeway-webhook/causeway/certs"
)

// configurationsOf are the webhook configurations that name this process.
func configurationsOf(o *certOptions, config *rest.Config) (certs.Configurations, error) {
	client, err := admissionregistrationv1.NewForConfig(config)
	if err != nil {
		return certs.Configurations{}, fmt.Errorf("setting up a client for webhook configurations: %w", err)
	}
	return certs.Configurations{Client: client, Validating: o.Validating, Mutating: o.Mutating}, nil
}

// newFiles reads the certificate that somebody else keeps.
func newFiles(o *certOptions, config *rest.Config, logger logr.Logger) (certs.Source, error) {
	configurations, err := configurationsOf(o, config)
	if err != nil {
		return nil, err
	}
	source, err := certs.NewFiles(certs.FilesOptions{Dir: o.Dir, Callers: configurations.Callers, Logger: logger.WithName("certs")})
	if err != nil {
		return nil, fmt.Errorf("no serving certificate: %w, or name its folder with --cert-dir", err)
	}
	return source, nil
}

// newSelfManaged issues one. It asks the API server.
func newSelfManaged(ctx context.Context, o *certOptions, config *rest.Config, logger logr.Logger) (certs.Source, error) {
	configurations, err := configurationsOf(o, config)
	if err != nil {
		return nil, err
	}
	secrets, err := corev1.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("setting up a client for Secrets: %w", err)
	}
	source, err := certs.NewSelfManaged(ctx, certs.SelfManagedOptions{
		Secrets:           secrets,
		Secret:            types.NamespacedName(o.Secret),
		Configurations:    configurations,
		AuthorityLifetime: o.AuthorityLifetime,
		ServingLifetime:   o.ServingLifetime,
		Logger:            logger.WithName("certs"),
	})
	if err != nil {
		return nil, fmt.Errorf("no serving certificate: %w", err)
	}
	return source, nil
}

// newClients says who may call, or returns nil where anybody may.
func newClients(o *certOptions, logger logr.Logger) (*certs.Clients, error) {
	if o.ClientCAFile == "" {
		return nil, nil
	}
	clients, err := certs.NewClients(certs.ClientsOptions{File: o.ClientCAFile, Names: o.ClientNames, Logger: logger.WithName("clients")})
	if err != nil {
		return nil, fmt.Errorf("%w: --client-ca-file must name a file of certificates in PEM", err)
	}
	return clients, nil
}
