package main
import "context"
func runStatuspatch(ctx context.Context, o *statuspatchOptions) error { return nil }
