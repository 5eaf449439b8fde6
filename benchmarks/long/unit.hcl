# Unit @: two groups of hosts, three loads, a ramp, what is derived, and what is said of it.
hardware "new@" "New @" {
  hosts   = "new@-[1-3].lab"
  cpu     = "64 vCPU"
  memory  = "512 GiB"
  storage = "1 x 1.6 TB NVMe"
  network = "25 Gbit/s"
  price   = "3.2256 USD/h"
}

hardware "old@" "Old @" {
  hosts   = "old@-[1-3].lab"
  cpu     = "32 vCPU"
  memory  = "256 GiB"
  storage = "3 x 300 GB 15K RPM HDD, RAID 0"
  network = "10 Gbit/s"
  price   = "4.032 USD/h"
}

workload "a@" "Session store @" "ycsb.a" {
  records      = "75M"
  distribution = zipfian  # as in production
  field_length = "120 B"
}

workload "b@" "Photo tagging @" "ycsb.b" {
  records      = "20M"
  distribution = uniform
  read         = "90 %"
  update       = "10 %"
}

workload "f@" "User records @" "ycsb.f" {
  records      = "10M"
  record_size  = "1 kB"
}

experiment "ramp@" "Ramp @" {
  hardware  = [new@, old@]
  workloads = [a@, b@, f@]
  threads   = [8, 16, 32, 64, 96]
  warm_up   = "5 min"
  measure   = "20 min"
  repeats   = [3, interleaved]
  probes    = [{ probe = disk, every = "1 s" }, { probe = cpu, every = "1 s" }]
}

# What the new hosts are worth.
metric "gain@" "Gain @" { value = max(throughput[new@], "threads") / max(throughput[old@], "threads") - 1 }
metric "cost@" "Cost @" { value = price / max(throughput, "threads") }
metric "core@" "Per core @" { value = throughput[new@] / mean(cpu, "time") }

expect "No loss @" { value = min(gain@, "workload") > 0.05 }

report "brief@" "Brief @" {
  template = technical_brief
  subtitle = "The new hosts beside the old ones"
  legal    = "Figures are for these hosts and this software."

  callout "Gain" {
    rows = workload
    column = { head = "Gain", cell = "${gain@}:+.0%" }
    note = "The best of the ramp on both sides."
  }

  text = <<EOT
    Both groups ran the same loads, at the same numbers of threads, one beside the other.
    Nothing but the hosts differed; the ramp ends where neither of them gained any more.

    The disk and the processors of every host were sampled beside each measurement.
EOT

  section "Throughput" {
    figure "Throughput by threads" {
      line = { show = throughput[new@], by = threads, color = workload }
      line = { show = throughput[old@], by = threads, color = workload }
    }
    figure "Writes" {
      line = { show = disk.write[new@], by = threads, color = workload }
      line = { show = disk.write[old@], by = threads, color = workload }
    }
  }

  section "Cost" {
    figure "Cost of an operation" {
      bars = { show = cost@[a@], by = hardware }
    }
    table "Configuration" {
      rows = facts
    }
  }
  disclosure = automatic
}

