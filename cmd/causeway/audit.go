package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/causeway-webhook/causeway/webhook"
)

// Exit codes of `causeway audit`, for scripts.
const (
	exitRefused  = 1 // something stored would be refused
	exitNotAsked = 2 // wrong flags, or the control plane could not be read
)

// exitError ends the process with a code of its own.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }

// runAudit is `causeway audit`: it judges what is stored as if it were submitted today, and changes nothing.
func runAudit(ctx context.Context, o *auditOptions, out io.Writer) error {
	config, err := auditConfig(o)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(webhook.AddToScheme(scheme), metav1.AddMetaToScheme(scheme)); err != nil {
		return err
	}
	reader, err := client.New(config, client.Options{Scheme: scheme, Mapper: auditMapper()})
	if err != nil {
		return fmt.Errorf("setting up a client: %w", err)
	}
	report, err := audit(ctx, reader)
	switch {
	case apierrors.IsUnauthorized(err), apierrors.IsForbidden(err):
		return fmt.Errorf("%w: the audit lists namespaces, runtime classes, Workloads, WorkloadDeployments and Instances", err)
	case err != nil:
		return fmt.Errorf("reading %s: %w", config.Host, err)
	}
	if err := report.write(out, o.Output); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if len(report.Refused) > 0 {
		return exitError{fmt.Errorf("%s would be refused", count(len(report.Refused), "stored object")), exitRefused}
	}
	return nil
}

// audit reads and judges everything. Classes come first: an object stored after them may be judged by classes that are
// older, as any audit is out of date when it is read.
func audit(ctx context.Context, reader client.Reader) (*auditReport, error) {
	report := &auditReport{Checked: map[string]int{}, Refused: []auditEntry{}}
	var classes []webhook.RuntimeClass
	err := eachPage(ctx, reader, &webhook.RuntimeClassList{}, func(list *webhook.RuntimeClassList) {
		classes = append(classes, list.Items...)
	})
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("there is no runtimeclasses.%s, by which capabilities are granted: %w", webhook.Group, err)
	}
	if err != nil {
		return nil, fmt.Errorf("listing runtime classes: %w", err)
	}
	ignored, err := ignoredNamespaces(ctx, reader)
	if err != nil {
		return nil, err
	}
	j := &auditJudge{classes: webhook.NewClasses(classes), ignored: ignored, report: report}
	for _, kind := range []struct {
		name string
		list func() error
	}{
		{"Workload", func() error {
			return eachPage(ctx, reader, &webhook.WorkloadList{}, func(l *webhook.WorkloadList) {
				for i := range l.Items {
					j.judge("Workload", &l.Items[i])
				}
			})
		}},
		{"WorkloadDeployment", func() error {
			return eachPage(ctx, reader, &webhook.WorkloadDeploymentList{}, func(l *webhook.WorkloadDeploymentList) {
				for i := range l.Items {
					j.judge("WorkloadDeployment", &l.Items[i])
				}
			})
		}},
		{"Instance", func() error {
			return eachPage(ctx, reader, &webhook.InstanceList{}, func(l *webhook.InstanceList) {
				for i := range l.Items {
					j.judge("Instance", &l.Items[i])
				}
			})
		}},
	} {
		// A cell has no Workloads; what is not served cannot be stored.
		if err := kind.list(); err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("listing every %s: %w", kind.name, err)
		}
	}
	report.sort()
	return report, nil
}

// ignoredNamespaces are those in which nothing is refused.
func ignoredNamespaces(ctx context.Context, reader client.Reader) (map[string]bool, error) {
	judged, err := metav1.LabelSelectorAsSelector(webhook.NamespaceSelector(defaultNamespace))
	if err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(namespaceKind.GroupVersion().WithKind("NamespaceList"))
	ignored := map[string]bool{}
	err = eachPage(ctx, reader, list, func(l *metav1.PartialObjectMetadataList) {
		for i := range l.Items {
			if !judged.Matches(labels.Set(l.Items[i].Labels)) {
				ignored[l.Items[i].Name] = true
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("listing namespaces: %w", err)
	}
	return ignored, nil
}

// auditJudge judges one object after the other.
type auditJudge struct {
	classes *webhook.Classes
	ignored map[string]bool
	report  *auditReport
}

func (j *auditJudge) judge(kind string, object client.Object) {
	if j.ignored[object.GetNamespace()] {
		j.report.Ignored++
		return
	}
	j.report.Checked[kind]++
	judged, path := webhook.RuntimeOf(object)
	verdict := webhook.Validate(webhook.Case{Runtime: judged, Classes: j.classes, Path: path})
	if len(verdict.Refused) == 0 {
		return
	}
	entry := auditEntry{Namespace: object.GetNamespace(), Class: verdict.Refused[0].Class, Kind: kind, Name: object.GetName()}
	for _, f := range verdict.Refused {
		entry.Causes = append(entry.Causes, auditCause{
			Rule: string(f.Rule), Field: f.Err.Field, Container: f.Container, Capability: f.Capability, Message: f.Err.ErrorBody(),
		})
	}
	j.report.Refused = append(j.report.Refused, entry)
}
