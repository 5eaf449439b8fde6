// Package peer is a scripted server: a station of known arithmetic behind TCP. What a client should measure is known
// exactly, for a request's number decides its service time.
package peer

import (
	"container/heap"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"benchbrief/loadgen/internal/clock"
	"benchbrief/loadgen/internal/queueing"
	"benchbrief/loadgen/internal/random"
)

// Script is what a server does. Times are nanoseconds, those of the pause from the first request.
type Script struct {
	Servers                int
	Mean                   int64
	Exponential            bool
	PauseFrom, PauseLength int64
	Journal                *Journal // of what was really replied, and when; nil for none
}

// Journal has the wall clock's nanoseconds right before each reply was written, by the request's number.
type Journal struct {
	mutex   sync.Mutex
	Replied map[uint64]int64
}

// NewJournal is an empty one.
func NewJournal() *Journal { return &Journal{Replied: map[uint64]int64{}} }

// At is when a request was answered.
func (j *Journal) At(number uint64) (nanoseconds int64, replied bool) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	nanoseconds, replied = j.Replied[number]
	return nanoseconds, replied
}

// Save writes the journal to a file.
func (j *Journal) Save(path string) error {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	text, err := json.Marshal(j.Replied)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o666)
}

func (j *Journal) note(number uint64) {
	if j == nil {
		return
	}
	j.mutex.Lock()
	j.Replied[number] = time.Now().UnixNano()
	j.mutex.Unlock()
}

// Service is the service time of a request.
func (s Script) Service(number uint64) int64 {
	if !s.Exponential {
		return s.Mean
	}
	source := random.At(77, number)
	return int64(float64(s.Mean) * source.Exponential())
}

// Station is what the server does with its requests, from the time of the first.
func (s Script) Station(zero int64) *queueing.Station {
	station := queueing.NewStation(s.Servers)
	if s.PauseLength > 0 {
		station.Pause(zero+s.PauseFrom, zero+s.PauseFrom+s.PauseLength)
	}
	return station
}

// Serve answers on a listener until it is closed.
func Serve(listener net.Listener, script Script) {
	s := &server{script: script, clock: clock.New()}
	s.asked.L = &s.mutex
	go s.answer()
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go s.read(connection)
	}
}

type server struct {
	script  Script
	clock   clock.Clock
	mutex   sync.Mutex
	station *queueing.Station
	replies replies
	asked   sync.Cond // there is a reply to wait for
}

func (s *server) read(connection net.Conn) {
	defer connection.Close()
	var request [8]byte
	for {
		if _, err := io.ReadFull(connection, request[:]); err != nil {
			return
		}
		number := binary.BigEndian.Uint64(request[:])
		service := s.script.Service(number)
		s.mutex.Lock()
		arrival := s.clock.Now()
		if s.station == nil {
			s.station = s.script.Station(arrival)
		}
		heap.Push(&s.replies, reply{s.station.Serve(arrival, service), number, connection})
		s.mutex.Unlock()
		s.asked.Signal()
	}
}

// answer is one thread for all replies: thousands that sleep would be late for each other's sake.
func (s *server) answer() {
	s.mutex.Lock()
	for {
		for len(s.replies) == 0 {
			s.asked.Wait()
		}
		now, next := s.clock.Now(), s.replies[0]
		if next.at <= now {
			heap.Pop(&s.replies)
			s.mutex.Unlock()
			s.script.Journal.note(next.number)
			_, _ = next.to.Write([]byte{1})
			s.mutex.Lock()
			continue
		}
		// With several servers a later request may be done sooner: then this is the most that its reply is late.
		wait := next.at - now
		if most := int64(500 * time.Microsecond); s.script.Servers > 1 && wait > most {
			wait = most
		}
		s.mutex.Unlock()
		s.clock.Sleep(now+wait, func() bool { return false })
		s.mutex.Lock()
	}
}

type reply struct {
	at     int64
	number uint64
	to     net.Conn
}

type replies []reply

func (r replies) Len() int           { return len(r) }
func (r replies) Less(i, j int) bool { return r[i].at < r[j].at }
func (r replies) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *replies) Push(x any)        { *r = append(*r, x.(reply)) }
func (r *replies) Pop() any {
	last := (*r)[len(*r)-1]
	*r = (*r)[:len(*r)-1]
	return last
}
