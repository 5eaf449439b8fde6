package selfcheck

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTheQuotaOfAControlGroupIsTheLeastOfThoseThatItIsIn(t *testing.T) {
	root := t.TempDir()
	groups := write(t, "0::/a/b\n", root, "groups")
	if found := quota(groups, root); !math.IsInf(found, 1) {
		t.Errorf("%g without a quota", found)
	}
	write(t, "max 100000\n", root, "a", "b", "cpu.max")
	write(t, "150000 100000\n", root, "a", "cpu.max")
	if found := quota(groups, root); found != 1.5 {
		t.Errorf("%g of 1.5 cores", found)
	}
	write(t, "10000 100000\n", root, "a", "b", "cpu.max")
	if found := quota(groups, root); found != 0.1 {
		t.Errorf("%g of 0.1 cores", found)
	}
}

func TestTheQuotaOfAnOldControlGroupCounts(t *testing.T) {
	root := t.TempDir()
	groups := write(t, "3:memory:/x\n2:cpu,cpuacct:/x\n", root, "groups")
	write(t, "-1\n", root, "cpu,cpuacct", "cpu.cfs_quota_us")
	write(t, "100000\n", root, "cpu,cpuacct", "cpu.cfs_period_us")
	write(t, "50000\n", root, "cpu,cpuacct", "x", "cpu.cfs_quota_us")
	write(t, "100000\n", root, "cpu,cpuacct", "x", "cpu.cfs_period_us")
	if found := quota(groups, root); found != 0.5 {
		t.Errorf("%g of 0.5 cores", found)
	}
}
