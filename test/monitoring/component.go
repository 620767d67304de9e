package monitoring

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"sigs.k8s.io/yaml"
)

// Panel is what is drawn of one panel of the dashboard.
type Panel struct {
	Title   string
	Targets []Target
}

// Target is one query of a panel.
type Target struct {
	Expr         string
	LegendFormat string
}

// Dashboard reads the panels out of the component in the folder.
func Dashboard(component string) ([]Panel, error) {
	data, err := os.ReadFile(filepath.Join(component, "dashboard.json"))
	if err != nil {
		return nil, fmt.Errorf("reading the dashboard: %w", err)
	}
	var d struct{ Panels []Panel }
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("reading the dashboard: %w", err)
	}
	return d.Panels, nil
}

// Rules reads the rules out of the component in the folder, by Prometheus' own
// parser, strictly.
func Rules(component string) (*rulefmt.RuleGroups, error) {
	data, err := os.ReadFile(filepath.Join(component, "rules.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading the rules: %w", err)
	}
	var object struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("reading the rules: %w", err)
	}
	spec, err := yaml.Marshal(object.Spec)
	if err != nil {
		return nil, fmt.Errorf("reading the rules: %w", err)
	}
	groups, errs := rulefmt.Parse(spec, false, model.UTF8Validation, parser.NewParser(parser.Options{}), promslog.NewNopLogger())
	if len(errs) > 0 {
		return nil, fmt.Errorf("reading the rules: %w", errs[0])
	}
	return groups, nil
}

// At fills in the one variable that the panels' queries have: what Grafana makes
// of its own from the interval between scrapes.
func At(expr string, interval time.Duration) string {
	return strings.ReplaceAll(expr, "$__rate_interval", model.Duration(interval).String())
}
