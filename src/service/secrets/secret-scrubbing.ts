import type { Clock } from '../../runtime/clock.ts';
import { createYielder, type YieldWhenDue, yieldToEventLoop } from '../../runtime/event-loop.ts';
import { LruCache } from '../../runtime/lru-cache.ts';
import { buildScrubber, NO_SECRETS, type Scrubber } from '../../scrub/scrubber.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import { sealedVariablesOf } from '../checks/shared.sql.ts';
import type { CheckVariables } from '../checks/variables/check-variables.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { secretsRevisionOf } from '../variables/shared.sql.ts';
import type { Variables } from '../variables/variables.ts';
import { scrubYielding } from './scrub-yielding.ts';

export interface SecretScrubbingParts {
  readonly clock: Clock;
  readonly variables: Pick<Variables, 'forAgents'>;
  readonly checkVariables: Pick<CheckVariables, 'readableSecrets'>;
}

/** The state of an account's secrets when it was read. */
export interface SecretsState {
  /** The revision of the account's secrets: see `secretsRevisionOf`. */
  readonly revision: number;
  /** A hash of the own secret variables of each check that has some, by check id. */
  readonly ownSecrets: ReadonlyMap<string, string>;
}

/**
 * Masks the secrets of accounts in data before it is stored (src/scrub/README.md, "What is masked, and
 * where").
 */
export interface SecretScrubbing {
  /** For the account's current secrets. */
  scrubberOf(sql: Sql, accountId: string): Promise<Scrubber>;
  /**
   * Masks the account's secrets in results. Yields to the event loop.
   *
   * @param state the state that was read before; if omitted, the checks' own secrets are not masked
   */
  results(
    sql: Sql,
    accountId: string,
    results: readonly ReceivedResult[],
    state?: SecretsState,
  ): Promise<readonly ReceivedResult[]>;
  /** Masks these secrets and those of the account in a result of a check that is not stored. */
  withOwn(
    sql: Sql,
    accountId: string,
    result: ReceivedResult,
    ownSecrets: readonly string[],
  ): Promise<ReceivedResult>;
}

interface OfAccount {
  readonly revision: number;
  readonly secrets: readonly string[];
  readonly scrubber: Scrubber;
}
interface OfCheck {
  readonly revision: number;
  readonly ownSecrets: string;
  readonly scrubber: Scrubber;
}

/** In bytes of secrets, each of which takes 14 bytes of memory. */
const MAX_WEIGHT = 4 * 1024 * 1024;
const ENTRY_WEIGHT = 1024;

const EMPTY: OfAccount = { revision: 0, secrets: [], scrubber: NO_SECRETS };

export function createSecretScrubbing(parts: SecretScrubbingParts): SecretScrubbing {
  const { clock, variables, checkVariables } = parts;
  const accounts = new LruCache<OfAccount>(MAX_WEIGHT);
  const checks = new LruCache<OfCheck>(MAX_WEIGHT);

  async function ofAccount(sql: Sql, accountId: string, revision: number): Promise<OfAccount> {
    // The account never had a secret, which is true for most accounts.
    if (revision === 0) return EMPTY;
    const cached = accounts.get(accountId);
    // A newer entry of a concurrent call is valid, too.
    if (cached !== undefined && cached.revision >= revision) return cached;
    // At least as new as the revision. Agents cannot reveal secrets that they do not get.
    const all = await variables.forAgents(sql, accountId);
    const secrets = all.flatMap(({ secret, value }) => (secret ? [value] : []));
    const scrubber = await buildScrubber(secrets, yieldToEventLoop);
    const made = { revision, secrets, scrubber };
    accounts.set(accountId, made, weightOf(secrets));
    return made;
  }

  /** Masks the check's own secrets, before the account's are masked. */
  async function ofCheck(
    sql: Sql,
    key: AccountKey,
    {
      account,
      ownSecrets,
      yieldWhenDue,
    }: {
      readonly account: OfAccount;
      readonly ownSecrets: string;
      readonly yieldWhenDue: YieldWhenDue;
    },
  ): Promise<Scrubber> {
    const name = JSON.stringify([key.accountId, key.id]);
    const { revision } = account;
    const cached = checks.get(name);
    if (cached?.ownSecrets === ownSecrets && cached.revision === revision) return cached.scrubber;
    const sealed = await sealedVariablesOf(sql, key);
    const own = sealed === null ? [] : checkVariables.readableSecrets(key, sealed);
    const secrets = await withRelated(own, account, yieldWhenDue);
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
      const yieldWhenDue = createYielder(clock);
      for (const result of results) {
        const key = { accountId, id: result.checkId };
        const own = ownSecrets.get(result.checkId);
        let masked = result;
        if (own !== undefined) {
          const first = await ofCheck(sql, key, { account, ownSecrets: own, yieldWhenDue });
          masked = await scrubYielding(result, first, yieldWhenDue);
        }
        scrubbed.push(await scrubYielding(masked, account.scrubber, yieldWhenDue));
        await yieldWhenDue();
      }
      return scrubbed;
    },

    async withOwn(sql, accountId, result, ownSecrets) {
      const account = await ofAccount(sql, accountId, await secretsRevisionOf(sql, accountId));
      const yieldWhenDue = createYielder(clock);
      const secrets = await withRelated(ownSecrets, account, yieldWhenDue);
      const first = await buildScrubber(secrets, yieldToEventLoop);
      const masked = await scrubYielding(result, first, yieldWhenDue);
      return scrubYielding(masked, account.scrubber, yieldWhenDue);
    },
  };
}

/**
 * Returns the secrets of a check, and the secrets of its account that are substrings of these: masking a substring
 * first would reveal the rest of the longer secret.
 */
async function withRelated(
  own: readonly string[],
  account: OfAccount,
  yieldWhenDue: YieldWhenDue,
): Promise<readonly string[]> {
  const related: string[] = [];
  for (const secret of account.secrets) {
    if (own.some((one) => one.includes(secret) || secret.includes(one))) related.push(secret);
    await yieldWhenDue();
  }
  return [...own, ...related];
}

function weightOf(secrets: readonly string[]): number {
  return secrets.reduce((sum, secret) => sum + Buffer.byteLength(secret), ENTRY_WEIGHT);
}
