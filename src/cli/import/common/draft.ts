import { withDefaults } from '../../../agent/source/common/check-defaults.ts';
import { pathText } from '../../../agent/source/common/file-problem.ts';
import { withoutReferences } from '../../../agent/source/file/resources/references.ts';
import { assertionProblems } from '../../../model/check/assertions/assertion-problems.ts';
import { checkBodySchema } from '../../../model/check/check.ts';
import { heartbeatCheckSchema } from '../../../model/check/heartbeat.ts';
import { namesIn } from '../../../model/check/template.ts';
import { maskProblems } from '../../../model/credentials/retained-credentials.ts';
import { freeCheckId } from '../../../model/ids.ts';
import { shortAssertion } from './assertions.ts';
import { ImportReport } from './import-report.ts';
import { ImportVariables, type WantedVariable } from './import-variables.ts';
import { bodyOf, type Probe } from './probe.ts';
import type { Origin } from './source-file.ts';
import { UniqueIds } from './unique-ids.ts';

/** Maximum number of checks in all files together. A check file may have ten times as many. */
const MAX_CHECKS = 10_000;
const MAX_NAME_CHARS = 255;
const MAX_TAGS = 100;

/**
 * The `defaults` of an imported file: the other programs do not retry failed runs, have no state between up and
 * down, and connect over IPv6 and IPv4.
 */
export const IMPORTED_DEFAULTS = {
  degradedResponseTime: null,
  retryStrategy: null,
  request: { ipFamily: 'ANY' },
} as const;

export interface DraftEntry {
  /** The origin of the entry, on one line. */
  readonly comment: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

export interface NewEntry {
  readonly name: string;
  readonly origin: Origin;
  readonly tags: readonly string[];
  readonly activated: boolean;
  readonly description: string | null;
  /** The id of a group; null for none. */
  readonly groupId: string | null;
}

export interface NewCheck extends NewEntry {
  /** A fixed id, not derived from the name. Add entries with fixed ids before others. */
  readonly id?: string;
  readonly probe: Probe;
  readonly periodMs: number;
  /** The origin of period and timeout, which many checks may share. */
  readonly scheduleOrigin: Origin;
  readonly retryStrategy: Readonly<Record<string, unknown>> | null;
}

export interface NewHeartbeat extends NewEntry {
  readonly periodSeconds: number;
  readonly graceSeconds: number;
}

/** Builds a check file. `vedette validate` accepts everything that is added. */
export class Draft {
  readonly report = new ImportReport();
  readonly variables = new ImportVariables();
  readonly checks: DraftEntry[] = [];
  readonly heartbeats: DraftEntry[] = [];
  readonly groups: DraftEntry[] = [];
  /** Checks and heartbeats share their ids. */
  readonly #ids = new UniqueIds(freeCheckId);
  readonly #groupIds = new UniqueIds();
  readonly #groupByKey = new Map<string, string>();

  get isEmpty(): boolean {
    return this.checks.length === 0 && this.heartbeats.length === 0;
  }

  /** The variables that its checks use; omitted entries may have used others. */
  get wantedVariables(): readonly WantedVariable[] {
    const named = new Set(this.checks.flatMap(({ entry }) => namesIn(JSON.stringify(entry))));
    return this.variables.list.filter(({ name }) => named.has(name));
  }

  /**
   * @param key identifies the group; the same key returns the same group
   * @returns its id
   */
  group(key: string, name: string, origin: Origin): string {
    const known = this.#groupByKey.get(key);
    if (known !== undefined) return known;
    const id = this.#groupIds.take(name);
    this.#groupByKey.set(key, id);
    this.groups.push({ comment: commentOf(origin), entry: { id, name: cutName(name) } });
    return id;
  }

  addCheck(check: NewCheck): void {
    const { origin, probe, periodMs, scheduleOrigin, retryStrategy } = check;
    if (!this.#hasRoom(origin)) return;
    const built = bodyOf(probe, periodMs);
    const common = {
      checkType: built.checkType,
      ...this.#commonFields(check),
      ...built.fields,
      ...(retryStrategy === null ? {} : { retryStrategy }),
    };
    const bodyWith = (assertions: readonly object[]): unknown =>
      withoutReferences(
        withDefaults(
          { ...common, request: { ...built.request, assertions } },
          IMPORTED_DEFAULTS,
          built.checkType,
        ),
      ).body;
    const bare = checkBodySchema.safeParse(bodyWith([]));
    if (!bare.success || maskProblems(built.request).length > 0) {
      this.#refused(origin, bare.success ? null : bare.error.issues[0]);
      return;
    }
    const assertions = built.assertions.filter((one) => {
      const [problem] = assertionProblems([one], bare.data.request);
      if (problem === undefined) return true;
      const field = `${one.source} ${one.comparison}, whose ${problem.path[1]}`;
      this.report.leftOut(
        origin,
        `an assertion on ${field} ${problem.message}`,
        one.source === 'CERTIFICATE'
          ? 'let the check connect over TLS, for example to an https:// URL'
          : 'write one by hand',
      );
      return false;
    });
    const whole = checkBodySchema.safeParse(bodyWith(assertions));
    if (!whole.success) {
      this.#refused(origin, whole.error.issues[0]);
      return;
    }
    for (const change of built.changes) this.report.changed(scheduleOrigin, change);
    this.#noteTemplates(built.request, origin);
    const id = check.id === undefined ? this.#ids.take(check.name) : this.#ids.reserve(check.id);
    const short = assertions.map(shortAssertion);
    const request = { ...built.request, ...(short.length === 0 ? {} : { assertions: short }) };
    this.checks.push({ comment: commentOf(origin), entry: { id, ...common, request } });
  }

  addHeartbeat(heartbeat: NewHeartbeat): void {
    const { origin, periodSeconds, graceSeconds } = heartbeat;
    if (!this.#hasRoom(origin)) return;
    const fields = {
      ...this.#commonFields(heartbeat),
      heartbeat: {
        period: periodSeconds,
        periodUnit: 'SECONDS',
        grace: graceSeconds,
        graceUnit: 'SECONDS',
      },
    };
    const { groupId: _, ...own } = fields as Record<string, unknown>;
    const parsed = heartbeatCheckSchema.safeParse({ checkType: 'HEARTBEAT', ...own });
    if (!parsed.success) {
      this.#refused(origin, parsed.error.issues[0]);
      return;
    }
    const id = this.#ids.take(heartbeat.name);
    this.heartbeats.push({ comment: commentOf(origin), entry: { id, ...fields } });
    this.report.changed(
      origin,
      `it is a heartbeat, which only a service has: run vedette apply, and let the job ping the address that the service shows for ${id}`,
    );
  }

  #commonFields({ name, tags, activated, description, groupId }: NewEntry): object {
    const kept = [...new Set(tags.map(cutName))].filter((tag) => tag !== '').slice(0, MAX_TAGS);
    return {
      name: cutName(name),
      ...(description === null || description === ''
        ? {}
        : { description: description.slice(0, 500) }),
      ...(kept.length === 0 ? {} : { tags: kept }),
      ...(groupId === null ? {} : { groupId }),
      ...(activated ? {} : { activated }),
    };
  }

  #hasRoom({ file }: Origin): boolean {
    if (this.checks.length + this.heartbeats.length < MAX_CHECKS) return true;
    const why = `an import creates at most ${MAX_CHECKS} checks, and there are more`;
    this.report.leftOut({ file, path: [] }, why, 'import the files in parts');
    return false;
  }

  #refused(
    origin: Origin,
    issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined | null,
  ): void {
    const path = (issue?.path ?? []).map((step) => (typeof step === 'symbol' ? '' : step));
    const field = path.length === 0 ? 'a field' : pathText(path);
    const message = issue?.message ?? 'contains a mask instead of a secret';
    this.report.leftOut(
      origin,
      `it cannot become a check, as ${field} ${message}`,
      'write the check by hand',
    );
  }

  /** Reports texts of the other program that look like templates. */
  #noteTemplates(request: object, origin: Origin): void {
    for (const name of namesIn(JSON.stringify(request))) {
      if (this.variables.has(name)) continue;
      this.report.changed(origin, `{{${name}}} in it is read as a variable: define it`);
    }
  }
}

function cutName(name: string): string {
  return name.trim().slice(0, MAX_NAME_CHARS).toWellFormed();
}

function commentOf({ file, path }: Origin): string {
  const line = file.lineAt(path);
  const at = line === null ? file.name : `${file.name}:${line}`;
  return path.length === 0 ? at : `${at} ${pathText(path)}`;
}
