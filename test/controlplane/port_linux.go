package controlplane

import (
	"fmt"
	"syscall"
)

// reservePort has the kernel pick a free loopback port and keeps it until
// release is called, without listening on it. A server of ours may listen there
// all the while, since both sockets allow reuse of the address, and the kernel
// gives the port to nobody else: neither to a listener that asks for any port
// nor to an outgoing connection, not even while the API server is down.
func reservePort() (port int, release func(), err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("reserve a port: %w", err)
	}
	release = func() { _ = syscall.Close(fd) }
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		release()
		return 0, nil, fmt.Errorf("reserve a port: %w", err)
	}
	addr, err := syscall.Getsockname(fd)
	if err != nil {
		release()
		return 0, nil, fmt.Errorf("reserve a port: %w", err)
	}
	return addr.(*syscall.SockaddrInet4).Port, release, nil
}
