// Package peer speaks to the scripted server of internal/peer: eight bytes there, one byte back.
package peer

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

type peer struct {
	address string
	timeout time.Duration
}

// Open checks that the server is there.
func Open(address string, options target.Options) (target.Target, error) {
	p := &peer{address, options.Timeout}
	s, err := p.Session(0)
	if err != nil {
		return nil, err
	}
	_ = s.(*session).connection.Close()
	return p, nil
}

func (p *peer) Name() string    { return "peer" }
func (p *peer) Library() string { return "none" }
func (p *peer) InProcess() bool { return false }
func (p *peer) Close()          {}

func (p *peer) Session(int) (target.Session, error) {
	connection, err := net.DialTimeout("tcp", p.address, p.timeout)
	if err != nil {
		return nil, err
	}
	return &session{connection: connection, timeout: p.timeout}, nil
}

type session struct {
	connection net.Conn
	timeout    time.Duration
	request    [8]byte
	reply      [1]byte
	broken     error // a late reply must not be taken for that of a later request
}

// Do sends the record's number, which decides the service time.
func (s *session) Do(op *workload.Operation) target.Outcome {
	if s.broken != nil {
		return target.Outcome{Err: s.broken}
	}
	binary.BigEndian.PutUint64(s.request[:], uint64(op.Number))
	err := s.connection.SetDeadline(time.Now().Add(s.timeout))
	if err == nil {
		_, err = s.connection.Write(s.request[:])
	}
	if err == nil {
		_, err = io.ReadFull(s.connection, s.reply[:])
	}
	if err != nil {
		s.broken = fmt.Errorf("the peer is lost: %w", err)
	}
	return target.Outcome{Err: err}
}

func (s *session) Insert(records []*workload.Operation) (int, error) {
	for i, record := range records {
		if outcome := s.Do(record); outcome.Err != nil {
			return i, outcome.Err
		}
	}
	return len(records), nil
}
