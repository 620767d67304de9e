package main

import (
	"context"
	"fmt"
	"time"

	"github.com/causeway-webhook/causeway/test/bench/footprint"
	"github.com/causeway-webhook/causeway/test/bench/pairs"
	"github.com/causeway-webhook/causeway/test/bench/report"
)

// memory states what both processes take beside many Instances.
func memory(ctx context.Context, e *env) (report.Table, error) {
	if err := e.close(); err != nil {
		return report.Table{}, err
	}
	o := footprint.Options{
		Binary: e.binary, Writers: 32,
		Instances: short(e, 100_000, 200), Deployments: short(e, 5_000, 10), Churn: short(e, time.Minute, time.Second),
	}
	moments, err := footprint.Measure(ctx, o, e.say)
	if err != nil {
		return report.Table{}, err
	}
	table := report.Table{
		Title: "Memory",
		About: fmt.Sprintf("%d Instances in %d deployments, each with a Workload of its own; the processes are started beside them. What is resident, the\n"+
			"binary's own pages included. `go run ./bench/memory` in `test` does the same with a churn of ten minutes.", o.Instances, o.Deployments),
	}
	for _, m := range moments {
		const mega = 1e6
		table.Counts = append(table.Counts,
			report.Count{Name: "statuspatch, " + m.When, Value: m.Statuspatch.Resident / mega, Unit: "MB", Bar: pairs.AtMost(250)},
			report.Count{Name: "webhook, " + m.When, Value: m.Webhook.Resident / mega, Unit: "MB", Bar: pairs.AtMost(250)})
	}
	return table, nil
}
