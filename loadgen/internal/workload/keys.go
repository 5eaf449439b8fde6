// Package workload says what each operation does: YCSB's mixes, key distributions and record layout, so that data loaded
// by YCSB are read here and the other way round. Where YCSB's CoreWorkload (0.17.0) decides something, so it is here.
package workload

import "strconv"

// HashNumber is YCSB's Utils.hash: FNV-1a over the eight bytes of a number, least first, without its sign.
func HashNumber(number int64) int64 {
	hash := uint64(0xCBF29CE484222325)
	for i := 0; i < 8; i++ {
		hash ^= uint64(number & 0xff)
		hash *= 1099511628211
		number >>= 8
	}
	signed := int64(hash)
	if signed < 0 {
		return -signed
	}
	return signed
}

// AppendKey appends YCSB's name of a record.
func AppendKey(to []byte, number int64, hashed bool, padding int) []byte {
	if hashed {
		number = HashNumber(number)
	}
	to = append(to, "user"...)
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], number, 10)
	for i := len(text); i < padding; i++ {
		to = append(to, '0')
	}
	return append(to, text...)
}
