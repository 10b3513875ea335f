/**
 * Recorded on Linux 6.1 (Debian 12) with cgroup v2 alone: a loop of eight seconds in
 * kubepods.slice/pod1/agent, which `cpu.max` limited to 5 % of a CPU.
 */
export const LIMITED_CONTAINER = {
  'proc/self/cgroup': `0::/kubepods.slice/pod1/agent
`,
  'proc/self/mountinfo': `1 1 0:2 / / rw - rootfs rootfs rw,size=100868k,nr_inodes=25217,inode64
21 1 0:19 / /proc rw,relatime - proc proc rw
22 1 0:20 / /sys rw,relatime - sysfs sys rw
23 1 0:5 / /dev rw,relatime - devtmpfs dev rw,size=100868k,nr_inodes=25217,mode=755,inode64
24 22 0:21 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup rw,nsdelegate,memory_recursiveprot
`,
  'sys/fs/cgroup/cpu.stat': `usage_usec 1648000
user_usec 104000
system_usec 1544000
nr_periods 0
nr_throttled 0
throttled_usec 0
nr_bursts 0
burst_usec 0
`,
  'sys/fs/cgroup/kubepods.slice/cpu.stat': `usage_usec 398970
user_usec 68116
system_usec 330853
nr_periods 0
nr_throttled 0
throttled_usec 0
nr_bursts 0
burst_usec 0
`,
  'sys/fs/cgroup/kubepods.slice/pod1/cpu.stat': `usage_usec 398970
user_usec 68116
system_usec 330853
nr_periods 80
nr_throttled 0
throttled_usec 0
nr_bursts 0
burst_usec 0
`,
  'sys/fs/cgroup/kubepods.slice/pod1/agent/cpu.stat': `usage_usec 398970
user_usec 68116
system_usec 330853
nr_periods 80
nr_throttled 79
throttled_usec 7469423
nr_bursts 0
burst_usec 0
`,
};

/** The same with the limit on kubepods.slice/pod1, and none on the container. */
export const LIMITED_POD = {
  'proc/self/cgroup': `0::/kubepods.slice/pod1/agent
`,
  'proc/self/mountinfo': `1 1 0:2 / / rw - rootfs rootfs rw,size=100868k,nr_inodes=25217,inode64
21 1 0:19 / /proc rw,relatime - proc proc rw
22 1 0:20 / /sys rw,relatime - sysfs sys rw
23 1 0:5 / /dev rw,relatime - devtmpfs dev rw,size=100868k,nr_inodes=25217,mode=755,inode64
24 22 0:21 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup rw,nsdelegate,memory_recursiveprot
`,
  'sys/fs/cgroup/cpu.stat': `usage_usec 1736000
user_usec 72000
system_usec 1664000
nr_periods 0
nr_throttled 0
throttled_usec 0
nr_bursts 0
burst_usec 0
`,
  'sys/fs/cgroup/kubepods.slice/cpu.stat': `usage_usec 401438
user_usec 58877
system_usec 342560
nr_periods 0
nr_throttled 0
throttled_usec 0
nr_bursts 0
burst_usec 0
`,
  'sys/fs/cgroup/kubepods.slice/pod1/cpu.stat': `usage_usec 401438
user_usec 58877
system_usec 342560
nr_periods 79
nr_throttled 79
throttled_usec 7465270
nr_bursts 0
burst_usec 0
`,
  'sys/fs/cgroup/kubepods.slice/pod1/agent/cpu.stat': `usage_usec 401438
user_usec 58877
system_usec 342560
nr_periods 0
nr_throttled 0
throttled_usec 0
nr_bursts 0
burst_usec 0
`,
};
