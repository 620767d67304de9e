package main
import "context"
func runWebhook(ctx context.Context, o *webhookOptions) error { return nil }
