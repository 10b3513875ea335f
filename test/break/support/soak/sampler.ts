import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Running } from '../../../support/service/deployment.ts';
import { askService } from '../../../support/service/service-app.ts';
import type { Inspector } from './inspector.ts';

/** Values of a process at one moment, by series. */
export type Sample = Readonly<Record<string, number>>;

export interface Watched {
  readonly running: Running;
  readonly inspector: Inspector;
  /** Answers of `/metrics` and `/-/readiness`. */
  readonly port: number;
  /** The product metrics that become series, by their own names. */
  readonly metrics: readonly string[];
}

const MIB = 1024 * 1024;

/** Everything except a number that identifies a process or a file may vary. */
function ifThere<Value>(look: () => Value, otherwise: Value): Value {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

/** Samples a process from outside and inside, after a full collection. */
export async function takeSample(watched: Watched): Promise<Sample> {
  const { running, inspector, port, metrics } = watched;
  const startMs = performance.now();
  const heapBytes = await inspector.heapBytes();
  const lookMs = performance.now() - startMs;
  const inside = await inspector.evaluate<Inside>(INSIDE);
  const readiness = await askService(port, '/-/readiness', { key: null });
  const exposed = metricValues((await askService(port, '/metrics', { key: null })).text);
  return {
    'heap MiB': heapBytes / MIB,
    'look ms': lookMs,
    'buffers MiB': inside.arrayBuffers / MIB,
    ...outsideOf(running.pid),
    handles: inside.handles,
    timers: inside.resources.Timeout ?? 0,
    ready: Number(readiness.status === 200),
    ...Object.fromEntries(metrics.map((name) => [name, exposed.get(name) ?? Number.NaN])),
  };
}

interface Inside {
  readonly arrayBuffers: number;
  readonly handles: number;
  /** By type: resources that keep the event loop alive. */
  readonly resources: Partial<Record<string, number>>;
}

const INSIDE = `({
  arrayBuffers: process.memoryUsage().arrayBuffers,
  handles: process._getActiveHandles().length,
  resources: process.getActiveResourcesInfo().reduce(
    (counts, type) => ({ ...counts, [type]: (counts[type] ?? 0) + 1 }), {}),
})`;

/** proc(5): memory, threads, open files by kind, and sockets by protocol and state. */
function outsideOf(pid: number): Sample {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1]);
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) =>
    ifThere(() => readlinkSync(`/proc/${pid}/fd/${fd}`), 'gone'),
  );
  const sockets = links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []);
  const states = socketStates(pid, new Set(sockets));
  return {
    'rss MiB': field('VmRSS') / 1024,
    threads: field('Threads'),
    fds: links.length,
    'fds: files': links.filter((link) => link.startsWith('/')).length,
    'fds: sockets': sockets.length,
    'fds: others': links.filter((link) => !/^(\/|socket:|gone)/.test(link)).length,
    'sockets: tcp established': states.get('tcp 01') ?? 0,
    'sockets: tcp connecting': states.get('tcp 02') ?? 0,
    'sockets: tcp half closed': (states.get('tcp 08') ?? 0) + (states.get('tcp 05') ?? 0),
    'sockets: udp': states.get('udp 07') ?? 0,
  };
}

/** The state is a number of the kernel (include/net/tcp_states.h); unconnected UDP has 07. */
function socketStates(pid: number, inodes: ReadonlySet<string>): ReadonlyMap<string, number> {
  const states = new Map<string, number>();
  for (const table of ['tcp', 'tcp6', 'udp', 'udp6']) {
    const text = ifThere(() => readFileSync(`/proc/${pid}/net/${table}`, 'utf8'), '');
    for (const line of text.split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/);
      const [, , , state = '', , , , , , inode = ''] = fields;
      if (!inodes.has(inode)) continue;
      const name = `${table.slice(0, 3)} ${state}`;
      states.set(name, (states.get(name) ?? 0) + 1);
    }
  }
  return states;
}

/** The value of each metric, summed over its labels. */
function metricValues(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^([a-z0-9_]+)(?:\{.*\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    values.set(name, (values.get(name) ?? 0) + Number(value));
  }
  return values;
}

/**
 * Counts of live objects: a leak of a few bytes per run is visible here long before the heap shows
 * it.
 */
export interface Census {
  readonly mapEntries: number;
  readonly signals: number;
  /** All of them, for abort signals. */
  readonly abortListeners: number;
}

/** The process stops for about a second, because the inspector collects very thoroughly. */
export async function takeCensus(inspector: Inspector): Promise<Census> {
  // Includes the prototypes of subclasses, which have no size.
  const mapEntries = await inspector.ofAll<number>(
    'Map.prototype',
    `function () {
      const sizeOf = (each) => { try { return each.size; } catch { return 0; } };
      return this.reduce((sum, each) => sum + sizeOf(each), 0);
    }`,
  );
  const [signals, abortListeners] = await inspector.ofAll<[number, number]>(
    'AbortSignal.prototype',
    `function () {
      const { getEventListeners } = process.getBuiltinModule('node:events');
      const count = (each) => getEventListeners(each, 'abort').length;
      return [this.length, this.reduce((sum, each) => sum + count(each), 0)];
    }`,
  );
  return { mapEntries, signals, abortListeners };
}
