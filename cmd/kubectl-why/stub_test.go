package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// stub is an API server that has these objects, by resource, and answers in
// pages.
type stub struct {
	objects map[string][]map[string]any
	// refused answers 403 for a resource.
	refused map[string]bool
	// asked are the requests, in their order.
	asked []string
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked = append(s.asked, r.URL.RequestURI())
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/apis/"+group+"/"+version1+"/"), "/")
	namespace := ""
	if parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	all, served := s.objects[parts[0]]
	switch {
	case !served:
		answer(w, http.StatusNotFound, "NotFound", "the server could not find the requested resource", "")
		return
	case s.refused[parts[0]]:
		answer(w, http.StatusForbidden, "Forbidden", parts[0]+` is forbidden: User "bob" cannot list it`, "")
		return
	}
	var found []map[string]any
	for _, o := range all {
		m := o["metadata"].(map[string]any)
		if (namespace == "" || m["namespace"] == namespace) && (len(parts) == 1 || m["name"] == parts[1]) {
			found = append(found, o)
		}
	}
	if len(parts) == 2 {
		if len(found) == 0 {
			answer(w, http.StatusNotFound, "NotFound", parts[0]+`.`+group+` "`+parts[1]+`" not found`, parts[1])
			return
		}
		reply(w, http.StatusOK, found[0])
		return
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	list := map[string]any{"resourceVersion": "1"}
	to := len(found)
	if limit > 0 && from+limit < to {
		to = from + limit
		list["continue"], list["remainingItemCount"] = strconv.Itoa(to), len(found)-to
	}
	reply(w, http.StatusOK, map[string]any{
		"apiVersion": group + "/" + version1, "kind": "List", "metadata": list, "items": append([]map[string]any{}, found[from:to]...),
	})
}

func answer(w http.ResponseWriter, code int, reason, message, name string) {
	reply(w, code, map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
		"details": map[string]any{"name": name},
	})
}

func reply(w http.ResponseWriter, code int, o any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(o)
}

func object(kind, namespace, name string, owner map[string]any, spec, status map[string]any) map[string]any {
	m := map[string]any{"namespace": namespace, "name": name, "uid": kind + "-" + namespace + "-" + name}
	if owner != nil {
		m["ownerReferences"] = []any{owner}
	}
	return map[string]any{"apiVersion": group + "/" + version1, "kind": kind, "metadata": m, "spec": spec, "status": status}
}

func says(conditionType, status, reason, message string) map[string]any {
	return map[string]any{"conditions": []any{map[string]any{
		"type": conditionType, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-01-01T00:00:00Z",
	}}}
}

// crowd is one Workload with one deployment of n Instances that crash, without
// Causeway.
func crowd(n int) *stub {
	of := func(kind, name string, controller bool) map[string]any {
		return map[string]any{"apiVersion": group + "/" + version1, "kind": kind, "name": name, "uid": kind + "-shop-" + name, "controller": controller}
	}
	lie := says("Available", "False", "InstancesProvisioning", "Instances are being provisioned")
	s := &stub{refused: map[string]bool{}, objects: map[string][]map[string]any{
		"workloads": {object("Workload", "shop", "api", nil, nil, lie)},
		"workloaddeployments": {object("WorkloadDeployment", "shop", "api-us", of("Workload", "api", true),
			map[string]any{"placementName": "us", "locationRef": map[string]any{"name": "us"}, "replicas": n}, lie)},
		"instances": {},
	}}
	for i := range n {
		s.objects["instances"] = append(s.objects["instances"], object("Instance", "shop", "api-us-"+strconv.Itoa(i),
			of("WorkloadDeployment", "api-us", false), nil, says("Ready", "False", "InstanceCrashing", "it exits")))
	}
	return s
}

// call runs the command against the server.
func (s *stub) call(t *testing.T, out, err terminal, args ...string) (stdout, stderr string, failed error) {
	t.Helper()
	return s.callWith(t, out, err, func(server string) []string { return append([]string{"--server=" + server}, args...) })
}

func (s *stub) callWith(t *testing.T, out, err terminal, args func(server string) []string) (stdout, stderr string, failed error) {
	t.Helper()
	server := httptest.NewServer(s)
	defer server.Close()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	streams, _, o, e := genericiooptions.NewTestIOStreams()
	cmd := newCommand(streams, out, err)
	cmd.SetArgs(args(server.URL))
	failed = cmd.ExecuteContext(t.Context())
	return o.String(), e.String(), failed
}
