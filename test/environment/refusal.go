package environment

import "context"

// InstallLeftOut installs also what Options.Without left out, so that objects
// may be stored before it.
func (e *Environment) InstallLeftOut(ctx context.Context) error {
	e.options.Without = nil
	return e.installDeploy(ctx)
}

// StartWebhookWith is StartWebhook with these further arguments in place of
// those of the options, for this process and those after it.
func (e *Environment) StartWebhookWith(ctx context.Context, args ...string) (*Process, error) {
	e.options.WebhookArgs = args
	return e.StartWebhook(ctx)
}
