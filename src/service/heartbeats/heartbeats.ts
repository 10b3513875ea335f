import {
  type HeartbeatCheck,
  heartbeatCheckSchema,
  rhythmOf,
} from '../../model/check/heartbeat.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Allowance } from '../accounts/allowance.ts';
import {
  firstSubscriptions,
  replaceSubscriptions,
} from '../alerts/channels/check-subscriptions.ts';
import {
  type CheckWithChannels,
  checkWithChannels,
  withoutSubscriptions,
} from '../alerts/channels/check-with-channels.ts';
import { type CheckInput, refuseIncomplete, refuseReservedId } from '../checks/check-input.ts';
import { lockReferences } from '../checks/check-references.ts';
import { requireMatching } from '../checks/check-selection.ts';
import { withWarnings } from '../checks/check-warnings.ts';
import type { ChangeOptions, CheckPrecondition, CreateOptions } from '../checks/checks.ts';
import {
  findCheck,
  insertCheck,
  lockCheck,
  type StoredCheck,
  updateCheck,
} from '../checks/shared.sql.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, notFound } from '../errors.ts';
import { givenFields } from '../http/resources/given-fields.ts';
import { validBody } from '../http/resources/input-problems.ts';
import { RESPONSE_ONLY } from './heartbeat-response.ts';
import type { HeartbeatState } from './heartbeat-state-machine.ts';
import type { PingThrottle } from './pings/ping-throttle.ts';
import { newPingToken } from './pings/pings.ts';
import { insertHeartbeat, replaceToken, setRhythm } from './sql.ts';

export interface HeartbeatsParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly throttle: PingThrottle<HeartbeatState | null>;
  readonly allowance: Allowance;
}

/** The heartbeat checks of an account. Those of all types are in ../checks/checks.ts. */
export interface Heartbeats {
  /** With a new UUID and a new token. */
  create(accountId: string, input: CheckInput, options: CreateOptions): Promise<CheckWithChannels>;
  /** Replaces each given field as a whole. The token does not change. */
  update(
    key: AccountKey,
    input: CheckInput,
    options?: Omit<ChangeOptions, 'type'>,
  ): Promise<CheckWithChannels>;
  /** Like `update`; creates the heartbeat if none has the id. */
  put(
    key: AccountKey,
    input: CheckInput,
    options: CreateOptions & { readonly precondition?: CheckPrecondition },
  ): Promise<CheckWithChannels>;
  /** Replaces the ping token; the old one stops working. */
  renewToken(key: AccountKey): Promise<CheckWithChannels>;
}

export function createHeartbeats(parts: HeartbeatsParts): Heartbeats {
  const { store, clock, ids, throttle, allowance } = parts;

  async function insert(
    tx: Sql,
    accountId: string,
    check: HeartbeatCheck,
    { autoAssignAlerts }: CreateOptions,
  ): Promise<CheckWithChannels | null> {
    const { id, alertChannelSubscriptions: given } = check;
    // This lock comes first in every feature.
    await allowance.grow(tx, accountId, 'heartbeats');
    await lockReferences(tx, { accountId, before: null, after: check });
    const bare = withoutSubscriptions(check);
    const made = await insertCheck(tx, { accountId, check: bare, createdAtMs: clock.wallMs() });
    if (made === null) return null;
    await insertHeartbeat(tx, {
      accountId,
      id,
      rhythm: rhythmOf(check.heartbeat),
      token: newPingToken(),
    });
    await firstSubscriptions(tx, { accountId, checkId: id, given, autoAssignAlerts });
    return shown(tx, accountId, id);
  }

  async function change(
    tx: Sql,
    accountId: string,
    before: HeartbeatCheck,
    input: CheckInput,
  ): Promise<CheckWithChannels> {
    const { id, ...fields } = before;
    const after = wholeHeartbeat({ ...fields, ...changesIn(input, id) }, id);
    await lockReferences(tx, { accountId, before, after });
    if (input.alertChannelSubscriptions !== undefined) {
      const given = after.alertChannelSubscriptions;
      await replaceSubscriptions(tx, { accountId, checkId: id, given });
    }
    const atMs = clock.wallMs();
    await updateCheck(tx, { accountId, check: withoutSubscriptions(after), updatedAtMs: atMs });
    await setRhythm(tx, { accountId, id, rhythm: rhythmOf(after.heartbeat), atMs });
    return shown(tx, accountId, id);
  }

  async function shown(tx: Sql, accountId: string, id: string): Promise<CheckWithChannels> {
    const stored = await findCheck(tx, { accountId, id });
    if (stored === null) throw notFound('heartbeat check');
    return withWarnings(tx, accountId, await checkWithChannels(tx, accountId, stored));
  }

  return {
    create(accountId, input, options) {
      const { warnings: _, ...fields } = input;
      const check = wholeHeartbeat(fields, ids());
      return store.transaction(async (tx) => {
        const created = await insert(tx, accountId, check, options);
        if (created === null) throw conflict('A check has that id already', { id: check.id });
        return created;
      });
    },

    update({ accountId, id }, input, { precondition, matching = null } = {}) {
      return store.transaction(async (tx) => {
        const before = heartbeatIn(await lockCheck(tx, { accountId, id }));
        if (before === null) throw notFound('heartbeat check');
        await requireMatching(tx, { accountId, id }, matching);
        precondition?.(await shown(tx, accountId, id));
        return change(tx, accountId, before, input);
      });
    },

    put({ accountId, id }, input, { precondition, ...options }) {
      return store.transaction(async (tx) => {
        const stored = await lockCheck(tx, { accountId, id });
        if (stored === null) {
          precondition?.();
          refuseReservedId(id);
          refuseIncomplete(input, ['heartbeat']);
          const check = wholeHeartbeat({ name: id, ...changesIn(input, id) }, id);
          const created = await insert(tx, accountId, check, options);
          if (created !== null) return created;
        }
        // If it was created concurrently, this is an update.
        const present = stored ?? (await lockCheck(tx, { accountId, id }));
        if (present === null) throw notFound('heartbeat check');
        const before = heartbeatIn(present);
        if (before !== null) {
          precondition?.(await shown(tx, accountId, id));
          return change(tx, accountId, before, input);
        }
        const { checkType } = present.check;
        throw conflict(`There is a check with this id, of the type ${checkType}`, { checkType });
      });
    },

    async renewToken({ accountId, id }) {
      const { view, before } = await store.transaction(async (tx) => {
        const stored = heartbeatIn(await lockCheck(tx, { accountId, id }));
        if (stored === null) throw notFound('heartbeat check');
        const replaced = await replaceToken(tx, { accountId, id, token: newPingToken() });
        return { view: await shown(tx, accountId, id), before: replaced };
      });
      if (before !== null) throttle.forget(before);
      return view;
    },
  };
}

function heartbeatIn(stored: StoredCheck | null): HeartbeatCheck | null {
  return stored?.check.checkType === 'HEARTBEAT' ? stored.check : null;
}

function wholeHeartbeat(fields: CheckInput, id: string): HeartbeatCheck {
  return { ...validBody(heartbeatCheckSchema, { checkType: 'HEARTBEAT', ...fields }), id };
}

/**
 * The fields that a caller may change. Callers cannot choose the token, but may send it back with the
 * rest of `heartbeat`.
 *
 * @throws ServiceError 400 if the body and the path name different checks
 */
function changesIn(input: CheckInput, id: string): CheckInput {
  const given = givenFields(input, { fixed: { id }, responseOnly: RESPONSE_ONLY });
  const { heartbeat } = given;
  if (typeof heartbeat !== 'object' || heartbeat === null) return given;
  const { pingToken: _, pingUrl: __, ...rhythm } = heartbeat as Record<string, unknown>;
  return { ...given, heartbeat: rhythm };
}
