package environment

import (
	"context"
	"slices"
	"strings"
)

// Revive drops the processes that have ended, starts new ones until there are as
// many as the options say, as a kubelet does, and returns those that had ended.
// A causeway statuspatch ends by itself when it cannot renew its lease in time,
// which on a busy machine may happen.
func (e *Environment) Revive(ctx context.Context) (ended []*Process, err error) {
	for _, list := range []*[]*Process{&e.Sidecars, &e.Webhooks} {
		*list = slices.DeleteFunc(*list, func(p *Process) bool {
			if p.Ended() {
				ended = append(ended, p)
			}
			return p.Ended()
		})
	}
	for len(e.Sidecars) < e.options.Statuspatch {
		if _, err := e.StartSidecar(ctx); err != nil {
			return ended, err
		}
	}
	for len(e.Webhooks) < e.options.Webhook {
		if _, err := e.StartWebhook(ctx); err != nil {
			return ended, err
		}
	}
	return ended, nil
}

// LastWords is the last line the process printed.
func (p *Process) LastWords() string {
	log := strings.TrimSpace(p.Log())
	return log[strings.LastIndexByte(log, '\n')+1:]
}
