// Command init is the only process of a virtual machine beside the load generator, whose clock it sets.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

func main() {
	_ = syscall.Mount("proc", "/proc", "proc", 0, "")
	_ = syscall.Mount("dev", "/dev", "devtmpfs", 0, "")
	for _, step := range []int64{0, 3600, -3600} {
		child := exec.Command("/openload-mongodb", "run", "--target", "null", "--record-count", "100", "--read", "1",
			"--arrivals", "poisson", "--rate", "200", "--duration", "6", "--quiet", "--output", fmt.Sprint("/", step),
			"--accept-lag", "1e6", "--accept-cpu", "99", "--accept-pauses", "1", "--accept-drops", "1")
		child.Stderr = os.Stdout
		if err := child.Start(); err != nil {
			fmt.Println(err)
		}
		time.Sleep(3 * time.Second)
		if step != 0 {
			now := syscall.Timeval{Sec: time.Now().Unix() + step}
			if err := syscall.Settimeofday(&now); err != nil {
				fmt.Println(err)
			}
		}
		_ = child.Wait()
		fmt.Printf("after a step of %d s: code %d\n", step, child.ProcessState.ExitCode())
	}
	_ = syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF)
}
