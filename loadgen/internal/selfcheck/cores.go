package selfcheck

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// Cores is how much processor time a second the process may have, before GOMAXPROCS is changed: its cores, or what its control groups
// leave of them. The runtime of Go does not look at these.
func Cores() float64 {
	cores := math.Min(float64(runtime.GOMAXPROCS(0)), float64(runtime.NumCPU()))
	return math.Min(cores, quota("/proc/self/cgroup", "/sys/fs/cgroup"))
}

// quota is the least of a process's groups and those that they are in; infinite without one.
func quota(groups, root string) float64 {
	text, _ := os.ReadFile(groups)
	least := math.Inf(1)
	for _, line := range strings.Split(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) < 3 {
			continue
		}
		for path := filepath.Clean("/" + parts[2]); ; path = filepath.Dir(path) {
			if parts[0] == "0" {
				least = math.Min(least, ratio(words(filepath.Join(root, path, "cpu.max"))))
			} else if strings.Contains(","+parts[1]+",", ",cpu,") {
				folder := filepath.Join(root, parts[1], path)
				least = math.Min(least, ratio(append(words(folder+"/cpu.cfs_quota_us"), words(folder+"/cpu.cfs_period_us")...)))
			}
			if path == "/" {
				break
			}
		}
	}
	return least
}

func words(file string) []string {
	text, _ := os.ReadFile(file)
	return strings.Fields(string(text))
}

// ratio is of a quota and a period; a quota of "max" or -1 is none.
func ratio(of []string) float64 {
	if len(of) != 2 {
		return math.Inf(1)
	}
	quota, failed := strconv.ParseFloat(of[0], 64)
	period, wrong := strconv.ParseFloat(of[1], 64)
	if failed != nil || wrong != nil || quota <= 0 || period <= 0 {
		return math.Inf(1)
	}
	return quota / period
}
