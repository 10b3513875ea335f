import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readCpuAccount } from '../../../../../src/agent/run/starvation/cpu-accounting.ts';
import { makeTestFolder } from '../../../../support/process/test-folder.ts';
import { LIMITED_CONTAINER, LIMITED_POD } from './cgroup-v2-recordings.ts';

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

it('reads the pauses of cgroup v2', () => {
  expect(readCpuAccount(machine(LIMITED_CONTAINER)).throttledMs).toBeCloseTo(7469.423, 3);
});

it('reads the pauses of a cgroup above in cgroup v2', () => {
  expect(readCpuAccount(machine(LIMITED_POD)).throttledMs).toBeCloseTo(7465.27, 3);
});

it('reads the pauses in a container, which sees its own cgroup as the root', () => {
  const root = machine({
    'proc/self/cgroup': '0::/\n',
    'proc/self/mountinfo': LIMITED_CONTAINER['proc/self/mountinfo'],
    'sys/fs/cgroup/cpu.stat': LIMITED_CONTAINER['sys/fs/cgroup/kubepods.slice/pod1/agent/cpu.stat'],
  });
  expect(readCpuAccount(root).throttledMs).toBeCloseTo(7469.423, 3);
});

it('reads the pauses of cgroup v1, in a mount of a part of the tree', () => {
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
