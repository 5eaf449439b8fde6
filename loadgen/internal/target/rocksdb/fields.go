package rocksdb

import (
	"encoding/binary"
	"errors"
)

// appendField adds a field as YCSB's RocksDB binding does: the name and the value, each after its length in four bytes, big-endian.
func appendField(to []byte, name string, value []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(name)))
	to = append(to, name...)
	to = binary.BigEndian.AppendUint32(to, uint32(len(value)))
	return append(to, value...)
}

var errNoFields = errors.New("a value is not made of fields: was it written with another --layout?")

// withField appends a value of fields with one of them replaced, or added.
func withField(to, old []byte, name string, value []byte) ([]byte, error) {
	replaced := false
	for len(old) > 0 {
		field, rest, ok := part(old)
		content, rest, okToo := part(rest)
		if !ok || !okToo {
			return nil, errNoFields
		}
		if string(field) == name {
			content, replaced = value, true
		}
		to, old = appendField(to, string(field), content), rest
	}
	if !replaced {
		to = appendField(to, name, value)
	}
	return to, nil
}

// part is what stands after its length, and the rest.
func part(from []byte) (content, rest []byte, ok bool) {
	if len(from) < 4 {
		return nil, nil, false
	}
	length := uint64(binary.BigEndian.Uint32(from))
	if uint64(len(from)-4) < length {
		return nil, nil, false
	}
	return from[4 : 4+length], from[4+length:], true
}
