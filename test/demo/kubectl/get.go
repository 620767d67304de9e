package kubectl

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"
)

// tableType asks the server for its own rendering, whose columns are the CRD's.
const tableType = "application/json;as=Table;v=v1;g=meta.k8s.io"

func (c *Client) get(ctx context.Context, resource, name string, wide bool) error {
	m, err := c.mapping(resource)
	if err != nil {
		return err
	}
	result := c.rest.Get().AbsPath(path(m, name)...).SetHeader("Accept", tableType).Do(ctx)
	if err := result.Error(); err != nil {
		return err
	}
	data, err := result.Raw()
	if err != nil {
		return err
	}
	return printTable(c.out, data, wide, emptyText(m))
}

// emptyText is what kubectl prints in place of a table without rows.
func emptyText(m *meta.RESTMapping) string {
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		return "No resources found in " + Namespace + " namespace."
	}
	return "No resources found"
}

// printTable prints a table as it came from the server.
func printTable(w io.Writer, data []byte, wide bool, empty string) error {
	var table metav1.Table
	if err := json.Unmarshal(data, &table); err != nil {
		return fmt.Errorf("decoding the server's table: %w", err)
	}
	if table.Kind != "Table" {
		return fmt.Errorf("the server answered with kind %q, not with a table", table.Kind)
	}
	if len(table.Rows) == 0 {
		printf(w, "%s\n", empty)
		return nil
	}
	return printers.NewTablePrinter(printers.PrintOptions{Wide: wide}).PrintObj(&table, w)
}
