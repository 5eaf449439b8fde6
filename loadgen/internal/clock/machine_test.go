package clock

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// cpio packs files into an archive that the kernel unpacks as its first file system.
func cpio(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var archive bytes.Buffer
	packed := gzip.NewWriter(&archive)
	number := 0
	add := func(name string, mode int, data []byte, major, minor int) {
		number++
		fields := []int{number, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(name) + 1, 0}
		head := "070701"
		for _, field := range fields {
			head += fmt.Sprintf("%08x", field)
		}
		head += name + "\x00"
		for _, part := range [][]byte{[]byte(head), data} {
			_, _ = packed.Write(part)
			_, _ = packed.Write(make([]byte, (4-len(part)%4)%4))
		}
	}
	add("proc", 0o40755, nil, 0, 0)
	add("dev", 0o40755, nil, 0, 0)
	add("dev/console", 0o20600, nil, 5, 1)
	for name, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		add(name, 0o100755, data, 0, 0)
	}
	add("TRAILER!!!", 0, nil, 0, 0)
	_ = packed.Close()
	return archive.Bytes()
}

// A clock that is set for all of a machine can't be had in a test beside others. A virtual machine has one of its own: it needs
// qemu-system-x86_64 and a Linux kernel, which OPENLOAD_KERNEL names. With Debian, that of linux-image-cloud-amd64 does.
func TestAClockThatIsSetUnderTheProgramIsRefused(t *testing.T) {
	kernel := os.Getenv("OPENLOAD_KERNEL")
	if kernel == "" {
		t.Skip("OPENLOAD_KERNEL names no kernel for a virtual machine")
	}
	folder := t.TempDir()
	files := map[string]string{"openload-mongodb": "../../cmd/openload-mongodb", "init": "./testdata/init"}
	for name, source := range files {
		files[name] = filepath.Join(folder, name)
		build := exec.Command("go", "build", "-o", files[name], source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		if told, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", source, err, told)
		}
	}
	initrd := filepath.Join(folder, "initrd")
	if err := os.WriteFile(initrd, cpio(t, files), 0o600); err != nil {
		t.Fatal(err)
	}
	machine := exec.Command("qemu-system-x86_64", "-m", "512", "-smp", "2", "-no-reboot", "-nographic", "-kernel", kernel,
		"-initrd", initrd, "-append", "console=ttyS0 quiet panic=-1")
	output, err := machine.CombinedOutput()
	told := strings.ReplaceAll(string(output), "\r", "")
	if err != nil {
		t.Fatalf("%v: %s", err, told)
	}
	for _, expected := range []string{
		"after a step of 0 s: code 0\n", "after a step of 3600 s: code 1\n", "after a step of -3600 s: code 1\n",
		"refused (clock): the wall clock was set by +3599.", "refused (clock): the wall clock was set by -3600.",
	} {
		if !strings.Contains(told, expected) {
			t.Errorf("nothing says %q: %s", expected, told)
		}
	}
}
