//go:build tools

// Pins, by go.mod and go.sum, gofakes3 and what its command needs: a server that speaks S3, for the tests.
package main

import (
	_ "github.com/johannesboyne/gofakes3/cmd/gofakes3"
)
