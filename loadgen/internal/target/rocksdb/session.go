//go:build cgo

package rocksdb

/*
#include "library.h"
*/
import "C"

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"benchbrief/loadgen/internal/target"
	"benchbrief/loadgen/internal/workload"
)

// session serves one worker, in buffers that it uses again.
type session struct {
	*database
	key   []byte
	value []byte
	found []byte
	// What the library tells: here it lives as long as the session, and a read allocates nothing.
	length C.size_t
	there  C.int
}

func (s *session) Do(op *workload.Operation) target.Outcome {
	key := s.keyOf(op)
	switch op.Kind {
	case workload.Read:
		_, there, err := s.get(key, false)
		return target.Outcome{Err: err, NotFound: err == nil && !there}
	case workload.Scan:
		var found C.int
		err := failed(C.store_scan(s.store, first(key), C.size_t(len(key)), C.int(op.Length), &found))
		return target.Outcome{Err: err, NotFound: err == nil && found == 0}
	case workload.Insert:
		return target.Outcome{Err: s.put(key, s.valueOf(op))}
	case workload.Update, workload.ReadModifyWrite:
		return s.update(key, op)
	}
	return target.Outcome{Err: fmt.Errorf("no such operation: %d", op.Kind)}
}

// update writes a whole value. In YCSB's layout one field alone is changed, which takes a read, as in YCSB's own binding; in
// db_bench's an update reads nothing.
func (s *session) update(key []byte, op *workload.Operation) target.Outcome {
	one := s.layout == layoutYCSB && op.Field >= 0
	if op.Kind != workload.ReadModifyWrite && !one {
		return target.Outcome{Err: s.put(key, s.valueOf(op))}
	}
	old, there, err := s.get(key, one)
	if err != nil || !there {
		return target.Outcome{Err: err, NotFound: err == nil}
	}
	value := s.valueOf(op)
	if one {
		if value, err = withField(s.value[:0], old, s.fields[op.Field], op.Values[op.Field]); err != nil {
			return target.Outcome{Err: err}
		}
		s.value = value
	}
	return target.Outcome{Err: s.put(key, value)}
}

// keyOf is the record's key: the one of YCSB, or the number in db_bench's way, big-endian and filled up with '0'.
func (s *session) keyOf(op *workload.Operation) []byte {
	if s.layout == layoutYCSB {
		return op.Key
	}
	if len(s.key) != s.keySize {
		s.key = make([]byte, s.keySize)
		for i := range s.key {
			s.key[i] = '0'
		}
	}
	binary.BigEndian.PutUint64(s.key, uint64(op.Number))
	return s.key
}

// valueOf is the record's value: YCSB's fields, or bytes that compress to half, as db_bench's do.
func (s *session) valueOf(op *workload.Operation) []byte {
	if s.layout == layoutDBBench {
		value := op.Values[0]
		copy(value[len(value)/2:], value[:len(value)/2])
		return value
	}
	s.value = s.value[:0]
	for i, field := range op.Values {
		s.value = appendField(s.value, s.fields[i], field)
	}
	return s.value
}

// get copies the value only if it is wanted.
func (s *session) get(key []byte, wanted bool) ([]byte, bool, error) {
	for {
		var into *C.char
		if wanted {
			if len(s.found) == 0 {
				s.found = make([]byte, 4096)
			}
			into = first(s.found)
		}
		err := failed(C.store_get(s.store, first(key), C.size_t(len(key)), into, C.size_t(len(s.found)), &s.length, &s.there))
		if err != nil || s.there == 0 || !wanted {
			return nil, s.there != 0, err
		}
		if int(s.length) <= len(s.found) {
			return s.found[:s.length], true, nil
		}
		s.found = make([]byte, 2*s.length)
	}
}

func (s *session) put(key, value []byte) error {
	return failed(C.store_put(s.store, first(key), C.size_t(len(key)), first(value), C.size_t(len(value))))
}

// Insert implements target.Session.
func (s *session) Insert(records []*workload.Operation) (int, error) {
	var keys, values []byte
	lengths := make([]C.uint, 2*len(records))
	for i, record := range records {
		key, value := s.keyOf(record), s.valueOf(record)
		keys, values = append(keys, key...), append(values, value...)
		lengths[i], lengths[len(records)+i] = C.uint(len(key)), C.uint(len(value))
	}
	err := failed(C.store_put_all(s.store, C.int(len(records)), first(keys), &lengths[0], first(values), &lengths[len(records)]))
	if err != nil {
		return 0, err
	}
	return len(records), nil
}

var none [1]byte

func first(bytes []byte) *C.char {
	if len(bytes) == 0 {
		bytes = none[:]
	}
	return (*C.char)(unsafe.Pointer(&bytes[0]))
}
