//go:build unix && !linux

package controlplane

import (
	"fmt"
	"net"
)

// reservePort has the kernel pick a free loopback port. It cannot be kept here:
// whoever finds it taken after all starts over with another.
func reservePort() (port int, release func(), err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, nil, fmt.Errorf("reserve a port: %w", err)
	}
	port = l.Addr().(*net.TCPAddr).Port
	return port, func() {}, l.Close()
}
