package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSum(t *testing.T) {
	c, err := parse(`# TYPE calls counter
calls{name="a.causeway.dev",type="validating"} 3
calls{name="b.causeway.dev",type="admit"} 4
calls{name="other",type="admit"} 8
# TYPE took histogram
took_bucket{name="a.causeway.dev",le="1"} 5
took_bucket{name="a.causeway.dev",le="+Inf"} 6
took_sum{name="a.causeway.dev"} 7
took_count{name="a.causeway.dev"} 6
`)
	require.NoError(t, err)
	assert.Equal(t, 15.0, c.sum("calls", "", ""), "all series")
	assert.Equal(t, 7.0, c.sum("calls", "name", ownWebhooks), "those of Causeway")
	assert.Equal(t, 6.0, c.sum("took", "name", ownWebhooks), "a histogram's observations")
	assert.Zero(t, c.sum("none", "", ""))
}
