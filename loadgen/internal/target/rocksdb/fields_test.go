package rocksdb

import (
	"bytes"
	"testing"
)

func TestFieldsAreLaidOutAsYCSBsBindingDoes(t *testing.T) {
	value := appendField(appendField(nil, "field0", []byte("abc")), "field1", nil)
	want := "\x00\x00\x00\x06field0\x00\x00\x00\x03abc\x00\x00\x00\x06field1\x00\x00\x00\x00"
	if string(value) != want {
		t.Errorf("%q", value)
	}
}

func TestOneFieldIsReplacedAndTheOthersStay(t *testing.T) {
	old := appendField(appendField(nil, "field0", []byte("abc")), "field1", []byte("d"))
	value, err := withField(nil, old, "field0", []byte("longer"))
	want := appendField(appendField(nil, "field0", []byte("longer")), "field1", []byte("d"))
	if err != nil || !bytes.Equal(value, want) {
		t.Errorf("%q, %v", value, err)
	}
	if value, err = withField(nil, old, "field2", []byte("x")); err != nil || !bytes.Equal(value, appendField(old, "field2", []byte("x"))) {
		t.Errorf("%q, %v", value, err)
	}
}

func TestAValueOfAnotherLayoutIsAnError(t *testing.T) {
	for _, old := range []string{"abc", "\x00\x00\x00\x09abc", "\x00\x00\x00\x01a", "\xff\xff\xff\xffabc"} {
		if value, err := withField(nil, []byte(old), "field0", nil); err == nil {
			t.Errorf("%q: %q", old, value)
		}
	}
}
