package controlplane

import (
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReservedPortIsFreeForTheServerAlone(t *testing.T) {
	port, release, err := reservePort()
	require.NoError(t, err)
	addr := fmt.Sprintf("127.0.0.1:%d", port)

	_, err = net.Dial("tcp", addr)
	require.ErrorIs(t, err, syscall.ECONNREFUSED, "nobody listens yet")
	for range 2 {
		l, err := net.Listen("tcp", addr)
		require.NoError(t, err, "the server may come and go")
		require.NoError(t, l.Close())
	}
	// Fewer than there are ports to give out, but enough to meet it by chance.
	for range 2000 {
		other, releaseOther, err := reservePort()
		require.NoError(t, err)
		defer releaseOther()
		assert.NotEqual(t, port, other)
	}
	release()
}
