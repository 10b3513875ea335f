import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { TrialMessage, TrialReport } from '../../wire/v1/trials.ts';
import type { Allowance } from '../accounts/allowance.ts';
import { lockAccount } from '../accounts/shared.sql.ts';
import { holdUntil, type LocationWake } from '../agents/assignment/location-wake.ts';
import type { LeaseHolder } from '../check-runs/check-runs.ts';
import { type CheckInput, createCheckChanges } from '../checks/check-input.ts';
import type { CheckVariables } from '../checks/variables/check-variables.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql, Store } from '../database/store.ts';
import { conflict, invalid, notFound } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import type { AgentCaller } from '../private-locations/location-keys.ts';
import { noSuchLocation } from '../private-locations/require-locations.ts';
import { findLocationsOfSlugs } from '../private-locations/shared.sql.ts';
import type { SecretScrubbing } from '../secrets/secret-scrubbing.ts';
import { claimTrials, listHeldTrials } from './claims.sql.ts';
import { runTrialExpiry, sweepTrials, TRIAL_WINDOW_MS } from './expiry.ts';
import { takeReport } from './reports.ts';
import {
  countCapableAgents,
  countOpenTrials,
  deleteSurplusTrials,
  findTrial,
  findTrialState,
  insertTrial,
  type Trial,
  type TrialState,
} from './sql.ts';
import { type SealedTrialCheck, sealTrialCheck } from './trial-check.ts';

export { TRIAL_STATES, type Trial } from './sql.ts';

export interface CheckTrialsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  readonly wake: Pick<LocationWake, 'wait'>;
  readonly checkVariables: CheckVariables;
  readonly scrubbing: Pick<SecretScrubbing, 'withOwn' | 'scrubberOf'>;
  readonly allowance: Pick<Allowance, 'admitCheck'>;
}

export interface TrialRequest {
  /** The slug of the location. */
  readonly location: string;
  /** The check that `check` changes; null for a new one. */
  readonly checkId: string | null;
  /** Not validated yet. */
  readonly check: CheckInput;
}

/**
 * Checks that are run once without being saved: src/service/README.md, "Trials of checks". A trial has no
 * effect on any check, and none of its secrets stays once it has ended.
 *
 * | state | entered by |
 * |---|---|
 * | waiting | `create` |
 * | running | `claim` |
 * | finished, missed | `report` of its agent |
 * | expired | `maintain`: no agent took it, or its agent was lost or sent nothing |
 */
export interface CheckTrials {
  /**
   * @throws ServiceError as for a check that is stored; 400 for an unknown location, 404 for an unknown
   *   check, 409 where no connected agent of the location can make the trial, and where too many are open
   */
  create(accountId: string, request: TrialRequest): Promise<Trial>;
  /** @throws ServiceError 404 */
  get(key: AccountKey): Promise<Trial>;
  /**
   * Waits until the state changes, at most `waitMs`; at once if the trial has ended or the signal aborts.
   *
   * @throws ServiceError 404
   */
  waitFor(key: AccountKey, waitMs: number, signal: AbortSignal): Promise<Trial>;
  /** For a poll whose lease was renewed: claims waiting trials, and returns all that the agent has. */
  claim(sql: Sql, who: LeaseHolder): Promise<readonly TrialMessage[]>;
  /** @returns whether the trial was the agent's to report and had not ended */
  report(caller: AgentCaller, report: TrialReport): Promise<boolean>;
  /** Expires overdue trials once. @returns how many */
  sweep(): Promise<number>;
  /** Expires overdue trials about every second, and deletes old ones, until the signal aborts. */
  maintain(signal: AbortSignal): Promise<void>;
}

/** Open trials of an account. */
export const MAX_OPEN_TRIALS = 10;
/** Ended trials of an account: the oldest go first. */
export const MAX_ENDED_TRIALS = 100;
/** Maximum number of trials that an agent has at once: each may have 1 MB, and shares the answer to a poll. */
const MAX_HELD = 3;
const OPEN_STATES: readonly TrialState[] = ['waiting', 'running'];

export function createCheckTrials(parts: CheckTrialsParts): CheckTrials {
  const { store, clock, ids, wake, checkVariables, allowance } = parts;
  const changed = createCheckChanges({ checkVariables });

  async function get(key: AccountKey): Promise<Trial> {
    const trial = await findTrial(store, key);
    if (trial === null) throw notFound('trial');
    return trial;
  }

  return {
    create(accountId, { location: slug, checkId, check: input }) {
      return store.transaction(async (tx) => {
        const id = ids();
        // This lock is taken first in every feature.
        await lockAccount(tx, accountId);
        const [location] = await findLocationsOfSlugs(tx, { accountId, slugs: [slug] });
        const check = await sealTrialCheck(
          tx,
          { accountId, id },
          { input, checkId },
          { checkVariables, changed, allowance },
        );
        if (location === undefined)
          throw invalid([bodyProblem(['location'], noSuchLocation(slug))]);
        await requireAgent(tx, location, check);
        if ((await countOpenTrials(tx, accountId)) >= MAX_OPEN_TRIALS) throw tooManyOpen();
        await deleteSurplusTrials(tx, { accountId, keep: MAX_ENDED_TRIALS - 1 });
        const locationId = location.id;
        const slotMs = Math.floor(clock.wallMs());
        const windowMs = TRIAL_WINDOW_MS;
        await insertTrial(tx, { ...check, id, accountId, locationId, checkId, slotMs, windowMs });
        const trial = await findTrial(tx, { accountId, id });
        if (trial === null) throw notFound('trial');
        return trial;
      });
    },

    get,

    async waitFor(key, waitMs, signal) {
      const before = await findTrialState(store, key);
      if (before === null) throw notFound('trial');
      const { locationId, state } = before;
      const look = async (isLast: boolean): Promise<Trial | null> => {
        const now = await findTrialState(store, key);
        const isNews = now?.state !== state || !OPEN_STATES.includes(state);
        return isNews || isLast ? get(key) : null;
      };
      return holdUntil({ wake, locationId, clock, holdMs: waitMs }, look, signal);
    },

    async claim(sql, who) {
      await claimTrials(sql, who, MAX_HELD);
      const held = await listHeldTrials(sql, who);
      return held.map(({ id, body, sealedVariables, scripts, slot, notAfter }) => ({
        trialId: id,
        check: checkVariables.open({ accountId: who.accountId, id }, body, sealedVariables),
        scripts,
        slot: slot.getTime(),
        notAfter: notAfter.getTime(),
      }));
    },

    report: (caller, report) => store.transaction((tx) => takeReport(tx, caller, report, parts)),

    sweep: () => sweepTrials(store),

    maintain: (signal) => runTrialExpiry(parts, signal),
  };
}

/** @throws ServiceError 409 where no connected agent of the location can make the trial */
async function requireAgent(
  tx: Sql,
  { id: locationId, slug }: { readonly id: string; readonly slug: string },
  { checkType, body }: Pick<SealedTrialCheck, 'checkType' | 'body'>,
): Promise<void> {
  const { live, current, capable } = await countCapableAgents(tx, {
    locationId,
    checkType,
    body,
  });
  if (capable > 0) return;
  const [reason, message] =
    live === 0
      ? ['no_agent', `No agent of ${slug} is connected: start one, or choose another location`]
      : current === 0
        ? [
            'old_agents',
            `The agents of ${slug} are of an earlier release, which cannot try this check: upgrade one of them, or choose another location`,
          ]
        : [
            'check_type',
            `No connected agent of ${slug} can run ${checkType} checks: choose another location, or see "ICMP without privilege"`,
          ];
  throw conflict(message ?? '', { location: slug, reason });
}

function tooManyOpen(): Error {
  return conflict(
    `The account has ${MAX_OPEN_TRIALS} waiting or running trials, the maximum: wait until one has ended`,
    { limit: MAX_OPEN_TRIALS },
  );
}
