import type { Clock } from '../../runtime/clock.ts';
import { createYielder, type YieldWhenDue, yieldToEventLoop } from '../../runtime/event-loop.ts';
import { buildScrubber, NO_SECRETS, type Scrubber } from '../../scrub/scrubber.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import type { CheckVariables } from '../checks/check-variables.ts';
import { type CheckKey, sealedVariablesOf } from '../checks/exports.ts';
import type { Sql } from '../database/port.ts';
import { secretsRevisionOf } from '../variables/exports.ts';
import type { Variables } from '../variables/variables.ts';
import { LruCache } from './lru-cache.ts';
import { scrubYielding } from './scrub-yielding.ts';

export interface SecretScrubbingParts {
  readonly clock: Clock;
  readonly variables: Pick<Variables, 'forAgents'>;
  readonly checkVariables: Pick<CheckVariables, 'readableSecrets'>;
}

/** What of an account's secrets holds now, as far as somebody read it. */
export interface SecretsState {
  /** Of the account: see `secretsRevisionOf`. */
  readonly revision: number;
  /** By check id, of those that have secret variables of their own: what changes with them. */
  readonly ownSecrets: ReadonlyMap<string, string>;
}

/**
 * Takes the secrets of accounts out of what is to be stored (src/scrub/README.md, "What is masked,
 * and where").
 */
export interface SecretScrubbing {
  /** Of the account, as they are now. */
  scrubberOf(sql: Sql, accountId: string): Promise<Scrubber>;
  /**
   * Results of the account, as they may be stored. It lets the event loop turn now and then.
   *
   * @param state read before; left out, the checks' own secrets do not count
   */
  results(
    sql: Sql,
    accountId: string,
    results: readonly ReceivedResult[],
    state?: SecretsState,
  ): Promise<readonly ReceivedResult[]>;
}

interface OfAccount {
  readonly revision: number;
  readonly secrets: readonly string[];
  readonly scrubber: Scrubber;
}
interface OwnSecretsAsked {
  readonly account: OfAccount;
  readonly ownSecrets: string;
  readonly turn: YieldWhenDue;
}
interface OfCheck {
  readonly revision: number;
  readonly ownSecrets: string;
  readonly scrubber: Scrubber;
}

/** Of the secrets' bytes, each of which takes 14 of memory, and of what each entry takes beside. */
const MAX_WEIGHT = 4 * 1024 * 1024;
const ENTRY_WEIGHT = 1024;

const EMPTY: OfAccount = { revision: 0, secrets: [], scrubber: NO_SECRETS };

export function createSecretScrubbing(parts: SecretScrubbingParts): SecretScrubbing {
  const { clock, variables, checkVariables } = parts;
  const accounts = new LruCache<OfAccount>(MAX_WEIGHT);
  const checks = new LruCache<OfCheck>(MAX_WEIGHT);

  async function ofAccount(sql: Sql, accountId: string, revision: number): Promise<OfAccount> {
    // It never had a secret, like most.
    if (revision === 0) return EMPTY;
    const kept = accounts.get(accountId);
    // What another read later holds, too.
    if (kept !== undefined && kept.revision >= revision) return kept;
    // Of now, and so at least as new as the revision. What agents are not told they do not tell.
    const all = await variables.forAgents(sql, accountId);
    const secrets = all.flatMap(({ secret, value }) => (secret ? [value] : []));
    const scrubber = await buildScrubber(secrets, yieldToEventLoop);
    const made = { revision, secrets, scrubber };
    accounts.set(accountId, made, weightOf(secrets));
    return made;
  }

  /** What masks the check's own secrets, before those of its account are. */
  async function ofCheck(
    sql: Sql,
    key: CheckKey,
    { account, ownSecrets, turn }: OwnSecretsAsked,
  ): Promise<Scrubber> {
    const name = JSON.stringify([key.accountId, key.id]);
    const { revision } = account;
    const kept = checks.get(name);
    if (kept?.ownSecrets === ownSecrets && kept.revision === revision) return kept.scrubber;
    const sealed = await sealedVariablesOf(sql, key);
    const own = sealed === null ? [] : checkVariables.readableSecrets(key, sealed);
    // One that is a part of another would leave the rest of it, if it were masked first.
    const related: string[] = [];
    for (const secret of account.secrets) {
      if (own.some((one) => one.includes(secret) || secret.includes(one))) related.push(secret);
      await turn();
    }
    const secrets = [...own, ...related];
    const scrubber = await buildScrubber(secrets, yieldToEventLoop);
    checks.set(name, { revision, ownSecrets, scrubber }, weightOf(secrets));
    return scrubber;
  }

  return {
    async scrubberOf(sql, accountId) {
      const revision = await secretsRevisionOf(sql, accountId);
      return (await ofAccount(sql, accountId, revision)).scrubber;
    },

    async results(sql, accountId, results, state) {
      if (results.length === 0) return results;
      const { revision, ownSecrets } = state ?? {
        revision: await secretsRevisionOf(sql, accountId),
        ownSecrets: new Map<string, string>(),
      };
      const account = await ofAccount(sql, accountId, revision);
      const scrubbed: ReceivedResult[] = [];
      const turn = createYielder(clock);
      for (const result of results) {
        const own = ownSecrets.get(result.checkId);
        const key = { accountId, id: result.checkId };
        const first =
          own === undefined ? null : await ofCheck(sql, key, { account, ownSecrets: own, turn });
        const masked = first === null ? result : await scrubYielding(result, first, turn);
        scrubbed.push(await scrubYielding(masked, account.scrubber, turn));
        await turn();
      }
      return scrubbed;
    },
  };
}

function weightOf(secrets: readonly string[]): number {
  return secrets.reduce((sum, secret) => sum + Buffer.byteLength(secret), ENTRY_WEIGHT);
}
