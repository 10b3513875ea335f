import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readCpuAccount } from '../../../../../src/agent/run/starvation/cpu-accounting.ts';
import { makeTestFolder } from '../../../../support/process/test-folder.ts';

const STAT = `cpu  100 0 50 900 0 0 0 40 0 0
cpu0 50 0 25 450 0 0 0 20 0 0
cpu1 50 0 25 450 0 0 0 20 0 0
intr 1
`;

function machine(files: Readonly<Record<string, string>>): string {
  const root = makeTestFolder();
  for (const [path, text] of Object.entries({ 'proc/stat': STAT, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

/** cpu.stat of cgroup v2, with the lines that kernel 6 has. */
function v2(throttledMicros: number): string {
  return `usage_usec 51234567
user_usec 41234567
system_usec 10000000
nice_usec 0
core_sched.force_idle_usec 0
nr_periods 1200
nr_throttled 800
throttled_usec ${throttledMicros}
nr_bursts 0
burst_usec 0
`;
}

const V2_MOUNT =
  '31 23 0:28 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw,nsdelegate,memory_recursiveprot\n';

it('reads the pauses of cgroup v2, also of a cgroup above', () => {
  const root = machine({
    'proc/self/cgroup': '0::/kubepods/pod1/agent\n',
    'proc/self/mountinfo': V2_MOUNT,
    'sys/fs/cgroup/kubepods/pod1/agent/cpu.stat': v2(1_000_000),
    'sys/fs/cgroup/kubepods/pod1/cpu.stat': v2(75_500_000),
    'sys/fs/cgroup/kubepods/cpu.stat': v2(0),
    'sys/fs/cgroup/cpu.stat': 'usage_usec 51234567\nuser_usec 41234567\nsystem_usec 10000000\n',
  });
  expect(readCpuAccount(root).throttledMs).toBe(75_500);
});

it('reads the pauses in a container, which sees its own cgroup as the root', () => {
  const root = machine({
    'proc/self/cgroup': '0::/\n',
    'proc/self/mountinfo': V2_MOUNT,
    'sys/fs/cgroup/cpu.stat': v2(2_000_000),
  });
  expect(readCpuAccount(root).throttledMs).toBe(2000);
});

it('reads those of cgroup v1, in a mount of part of the tree', () => {
  const root = machine({
    'proc/self/cgroup': '9:name=systemd:/docker/abc\n2:cpu,cpuacct:/docker/abc\n0::/\n',
    'proc/self/mountinfo':
      '32 31 0:29 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:9 - cgroup cgroup rw,cpu,cpuacct\n',
    'sys/fs/cgroup/cpu,cpuacct/cpu.stat':
      'nr_periods 52\nnr_throttled 50\nthrottled_time 3620483271\nnr_bursts 0\nburst_time 0\n',
  });
  expect(readCpuAccount(root).throttledMs).toBeCloseTo(3620.483271, 5);
});

it('reads the time that a hypervisor gave to others, per CPU', () => {
  expect(readCpuAccount(machine({})).stolenMs).toBe(200);
});

it('reports 0 if the kernel reports nothing', () => {
  const { throttledMs, stolenMs } = readCpuAccount(makeTestFolder());
  expect({ throttledMs, stolenMs }).toEqual({ throttledMs: 0, stolenMs: 0 });
});
