import type { Draft } from '../common/draft.ts';
import { listOf, mappingOf, textOf, textsOf } from '../common/fields.ts';
import { shownTarget } from '../common/import-variables.ts';
import { hostAndPort, PLAIN_GET, type Probe } from '../common/probe.ts';
import { below, type Origin } from '../common/source-file.ts';
import { type ProbeModule, readModule } from './module.ts';
import type { Labels } from './relabel.ts';

/** A target with its labels, of `static_configs` or of a file of targets. */
export interface Target {
  readonly address: string;
  readonly labels: Labels;
  readonly origin: Origin;
}

/** The targets of a list of {`targets`, `labels`}. */
export function targetsIn(groups: unknown, origin: Origin): readonly Target[] {
  return listOf(groups).flatMap((raw, index) => {
    const { targets, labels } = mappingOf(raw);
    const shared = Object.entries(mappingOf(labels)).flatMap(([name, value]) => {
      const text = textOf(value);
      return text === null ? [] : [[name, text] as const];
    });
    return textsOf(targets).map((address, n) => ({
      address,
      labels: new Map(shared),
      origin: below(origin, index, 'targets', n),
    }));
  });
}

/**
 * Returns `name:value` of each label that Prometheus would store, except the target itself. A label may repeat
 * the target and thereby a password, which is removed.
 */
export function tagsOf(labels: Labels): readonly string[] {
  const stored = [...labels].filter(([name]) => !name.startsWith('__') && name !== 'instance');
  const target = labels.get('__param_target');
  return stored.map(([name, value]) => {
    const isTarget = value === target || value.includes('://');
    return `${name}:${isTarget ? shownTarget(value) : value}`;
  });
}

/** The modules of all given files. Each is read when the first target uses it. */
export class ModuleList {
  readonly #draft: Draft;
  readonly #raw = new Map<string, { readonly value: unknown; readonly origin: Origin }>();
  readonly #read = new Map<string, ProbeModule | null>();

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  /** @param origin of the file; a module of a later file replaces one of the same name */
  add(modules: unknown, origin: Origin): void {
    for (const [name, value] of Object.entries(mappingOf(modules))) {
      this.#raw.set(name, { value, origin: below(origin, 'modules', name) });
    }
  }

  get origins(): ReadonlyMap<string, Origin> {
    return new Map([...this.#raw].map(([name, { origin }]) => [name, origin]));
  }

  has(name: string): boolean {
    return this.#raw.has(name);
  }

  /** @returns null if no check can do what the module does, which is reported */
  find(name: string): ProbeModule | null {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const found = this.#raw.get(name);
    const module =
      found === undefined ? null : readModule(name, found.value, found.origin, this.#draft);
    this.#read.set(name, module);
    return module;
  }

  noteUnused(): void {
    for (const [name, { origin }] of this.#raw) {
      if (this.#read.has(name)) continue;
      const what = 'no target of the given files uses the module, so it becomes no check';
      this.#draft.report.note(origin, what);
    }
  }
}

/**
 * Guesses the probe of a target whose module is not known.
 *
 * @param module the name of the module, which may be a better hint than the target
 */
export function guessedProbe(
  target: string,
  module: string | null,
  draft: Draft,
): Omit<Probe, 'timeoutMs'> | { readonly why: string } {
  const expected = { assertions: [], shouldFail: false, ipFamily: 'ANY' } as const;
  const isUrl = /^https?:\/\//i.test(target);
  if (isUrl || /^http/i.test(module ?? '')) {
    const url = draft.variables.url(isUrl ? target : `http://${target}`, 'TARGET');
    return { target: { ...PLAIN_GET, url }, ...expected };
  }
  const parsed = hostAndPort(target);
  if (parsed === null) return { why: 'its target is not a URL, host or address' };
  const { hostname, port } = parsed;
  if (/dns/i.test(module ?? '')) return { why: 'the name that its module asks for is not known' };
  if (port === null || /icmp|ping/i.test(module ?? '')) {
    return { target: { type: 'ICMP', request: { hostname, pingCount: 1 } }, ...expected };
  }
  return { target: { type: 'TCP', request: { hostname, port } }, ...expected };
}
