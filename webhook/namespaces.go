package webhook

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A namespace with this label is not judged.
const (
	NamespaceLabel   = "causeway.dev/capabilities"
	NamespaceIgnored = "ignore"
)

// NamespaceSelector selects the namespaces in which the API server asks: all but
// kube-system, Causeway's own, and those that opted out. It keeps what a cluster
// needs to get well from being refused for want of an answer. The manifest in
// deploy/ says the same.
func NamespaceSelector(own string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		// The API server itself keeps this label on every namespace.
		{Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: []string{metav1.NamespaceSystem, own}},
		{Key: NamespaceLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{NamespaceIgnored}},
	}}
}
