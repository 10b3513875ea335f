import type { Clock } from '../../runtime/clock.ts';
import type { CheckRuns } from '../check-runs/check-runs.ts';
import type { CheckInput } from '../checks/check-input.ts';
import { anyCheckBody } from '../checks/check-schemas.ts';
import type { SelectedCheck } from '../checks/check-selection.ts';
import type { Checks } from '../checks/checks.ts';
import { recordingOf, withoutRecorder } from '../database/recorded-store.ts';
import { conflict, notFound, ServiceError } from '../errors.ts';
import type { Heartbeats } from '../heartbeats/heartbeats.ts';
import { validBody } from '../http/resources/input-problems.ts';
import {
  type BulkBody,
  type BulkChange,
  type BulkResult,
  checkFilterOf,
  MAX_CHANGED,
} from './body.ts';
import { type Done, doEach } from './do-each.ts';

/** The functions that change one check, of the store or of a dry run. */
export interface CheckWriters {
  readonly checks: Pick<Checks, 'create' | 'update' | 'remove'>;
  readonly heartbeats: Pick<Heartbeats, 'create' | 'update'>;
  readonly checkRuns: Pick<CheckRuns, 'request'>;
}

export interface BulkChecksParts extends CheckWriters {
  readonly clock: Clock;
  readonly checks: Checks;
  /** The same functions, but all their writes are rolled back. */
  readonly dryRun: CheckWriters;
}

/** Changes many checks: src/service/README.md, "Many checks at once". */
export interface BulkChecks {
  /**
   * Writes each check separately, like a request for that check alone.
   *
   * @param options `errorOf` converts what the work for a check throws to its result; no further check is begun
   *   after `signal` aborts
   * @throws ServiceError 409 where the filter matches another number than expected, or too many; 429
   *   while another request of the account is in progress; 503 where nothing was written
   */
  run(
    accountId: string,
    body: BulkBody,
    options: { readonly errorOf: (thrown: unknown) => ServiceError; readonly signal: AbortSignal },
  ): Promise<readonly BulkResult[]>;
}

const BUSY_RETRY_SECONDS = 2;

/** The field changes that the actions `mute`, `pause` and so on stand for. */
const CHANGES = {
  mute: { muted: true },
  unmute: { muted: false },
  pause: { activated: false },
  resume: { activated: true },
} as const;

export function createBulkChecks(parts: BulkChecksParts): BulkChecks {
  const { clock, checks, dryRun } = parts;
  /** Accounts with a request in progress: each uses one connection to the database at a time. */
  const busy = new Set<string>();

  async function create(
    accountId: string,
    input: CheckInput,
    body: Extract<BulkBody, { readonly action: 'create' }>,
  ): Promise<Done> {
    const writers = body.dryRun ? dryRun : parts;
    const { autoAssignAlerts } = body;
    const options = { autoAssignAlerts };
    const { check } =
      input.checkType === 'HEARTBEAT'
        ? await writers.heartbeats.create(accountId, input, options)
        : await writers.checks.create(accountId, validBody(anyCheckBody, input), options);
    if (body.dryRun) return { status: 201, id: null };
    return { status: 201, id: check.id, location: `/v1/checks/${check.id}` };
  }

  async function change(
    accountId: string,
    { id, checkType }: SelectedCheck,
    body: BulkChange,
  ): Promise<Done> {
    if (checkType === null) throw notFound('check');
    const writers = body.dryRun ? dryRun : parts;
    const key = { accountId, id };
    const matching = checkFilterOf(body);
    if (body.action === 'delete') {
      await writers.checks.remove(key, { matching });
      return { status: 204, id };
    }
    if (body.action === 'run') {
      const { location } = body;
      const run = await writers.checkRuns.request(accountId, id, { location });
      return { status: 201, id, ...(body.dryRun ? {} : { location: `/v1/check-runs/${run.id}` }) };
    }
    const changes = body.action === 'update' ? body.changes : CHANGES[body.action];
    if (checkType === 'HEARTBEAT') await writers.heartbeats.update(key, changes, { matching });
    else await writers.checks.update(key, changes, { matching });
    return { status: 200, id };
  }

  async function selected(accountId: string, body: BulkChange): Promise<readonly SelectedCheck[]> {
    const filter = checkFilterOf(body);
    if (filter === null) return checks.selectIds(accountId, body.ids ?? []);
    const { total, found } = await checks.selectMatching(accountId, filter, MAX_CHANGED);
    const { expected = total } = body;
    if (total !== expected) {
      throw conflict(`The filter matches ${total} checks, not ${expected}: nothing was changed`, {
        expected,
        count: total,
      });
    }
    if (total > MAX_CHANGED) {
      throw conflict(
        `The filter matches ${total} checks, and a request changes at most ${MAX_CHANGED}: narrow it, or send their ids in several requests`,
        { count: total, limit: MAX_CHANGED },
      );
    }
    return found;
  }

  return {
    async run(accountId, body, options) {
      if (busy.has(accountId)) throw tooManyAtOnce();
      busy.add(accountId);
      try {
        const each = { clock, ...options };
        if (body.action === 'create') {
          return await doEach<CheckInput>({
            ...each,
            items: body.checks,
            idOf: () => null,
            work: (input) => recordingOf(null, () => create(accountId, input, body)),
          });
        }
        return await doEach<SelectedCheck>({
          ...each,
          items: await selected(accountId, body),
          idOf: ({ id }) => id,
          work: (check) => {
            const work = () => change(accountId, check, body);
            return body.action === 'run' ? withoutRecorder(work) : recordingOf(check.id, work);
          },
        });
      } finally {
        busy.delete(accountId);
      }
    },
  };
}

function tooManyAtOnce(): ServiceError {
  return new ServiceError(
    429,
    `Another bulk request of the account is in progress; try again in ${BUSY_RETRY_SECONDS} s`,
    {
      attributes: { retryAfterSeconds: BUSY_RETRY_SECONDS },
      headers: { 'retry-after': String(BUSY_RETRY_SECONDS) },
    },
  );
}
