// Package random has the generator behind every choice of a run: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
//
// Go's math/rand promises no sequence across versions; a seed must give the same schedule with every build.
package random

import "math"

const golden = 0x9e3779b97f4a7c15

// Source is a stream of numbers. It is not safe for use by several goroutines.
type Source struct{ state uint64 }

// New gives the stream of a seed.
func New(seed uint64) Source { return Source{state: mix(seed + golden)} }

// At gives the stream of one operation: those of different indexes have nothing to do with each other.
func At(seed, index uint64) Source {
	return Source{state: mix(mix(seed+golden) ^ (index+1)*golden)}
}

func mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Uint64 is uniform over all 64 bits.
func (s *Source) Uint64() uint64 {
	s.state += golden
	return mix(s.state)
}

// Float64 is uniform over [0, 1).
func (s *Source) Float64() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// Below is uniform over 0 to n-1; n is at least 1. Its bias is below n / 2^64.
func (s *Source) Below(n int64) int64 {
	return int64(s.Uint64() % uint64(n))
}

// Exponential has mean 1.
func (s *Source) Exponential() float64 { return -math.Log(1 - s.Float64()) }
