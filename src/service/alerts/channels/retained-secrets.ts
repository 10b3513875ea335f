import type {
  ChannelPair,
  PublicWebhookConfig,
  WebhookConfig,
} from '../../../model/alerting/channel-configs.ts';
import { originOf } from '../../../model/credentials/origin.ts';
import { invalid, type RequestProblem } from '../../errors.ts';
import type { RawBody } from '../../http/resources/given-fields.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';

type ListName = (typeof LISTS)[number];

export interface RetainedSecrets {
  /** The given configuration with the stored secrets that it retains. */
  readonly config: RawBody;
  /** The paths of those secrets. */
  readonly paths: readonly (readonly (string | number)[])[];
  /** Whether it retains all stored secrets in their order, and adds none. */
  readonly isSame: boolean;
}

const ELSEWHERE =
  'must be given again: a locked value stays only where scheme, host and port of the URL stay the same';
const NONE_STORED = 'must be given: no locked value of this key is stored, and this one is empty';
const UNLOCKED = 'must be given again to unlock it; to remove it, omit its key';
const COUNT_DIFFERS =
  'must be given again: there are several locked values of this key, and not as many as were stored';

const LISTS = ['headers', 'queryParameters'] as const;

/**
 * Adds the stored secrets to the configuration of an update, since responses do not contain them: an empty locked value
 * retains the stored one of the same key, and an omitted secret does not change.
 *
 * @param decryptStored returns the stored configuration with its secrets. Called only if one is retained, so that a
 *   channel whose secrets cannot be decrypted can get new ones.
 * @throws ServiceError 400 if a stored value would be lost or mistaken for another one, or if a locked value is
 *   retained for a URL with another scheme, host or port: a caller who may write could read the value there
 */
export function withRetainedSecrets(
  given: RawBody,
  stored: PublicWebhookConfig,
  decryptStored: () => WebhookConfig,
): RetainedSecrets {
  const { hasWebhookSecret: _, ...config } = given;
  const leadsElsewhere =
    typeof config.url === 'string' && originOf(config.url) !== originOf(stored.url);
  const lists = LISTS.map((name) => matchList(name, config[name], stored[name]));
  const problems = lists.flatMap((list) => [
    ...list.problems,
    ...(leadsElsewhere ? list.paths.map((path) => bodyProblem(path, ELSEWHERE)) : []),
  ]);
  if (problems.length > 0) throw invalid(problems);
  const filled = lists.flatMap(({ name, pairs, storedAt }) => {
    if (pairs === null) return [];
    const whole = pairs.map((pair, index) => {
      const at = storedAt[index] ?? null;
      return at === null ? pair : { ...(pair as object), value: decryptStored()[name][at]?.value };
    });
    return [[name, whole] as const];
  });
  const keepsKey = config.webhookSecret === undefined && stored.hasWebhookSecret;
  const isKeySame =
    keepsKey || (!stored.hasWebhookSecret && (config.webhookSecret ?? null) === null);
  return {
    config: {
      ...config,
      ...(keepsKey ? { webhookSecret: decryptStored().webhookSecret } : {}),
      ...Object.fromEntries(filled),
    },
    paths: [
      ...lists.flatMap(({ paths }) => paths),
      ...(keepsKey ? [['config', 'webhookSecret']] : []),
    ],
    isSame: isKeySame && lists.every(({ isSame }) => isSame),
  };
}

interface MatchedList {
  readonly name: ListName;
  /** null if the input is not a list. */
  readonly pairs: readonly unknown[] | null;
  /** For each given pair, the index of the stored one whose value it retains, else null. */
  readonly storedAt: readonly (number | null)[];
  readonly paths: readonly (readonly (string | number)[])[];
  readonly problems: readonly RequestProblem[];
  readonly isSame: boolean;
}

/** The n-th locked pair of a key retains the value of the n-th stored one. */
function matchList(name: ListName, pairs: unknown, stored: readonly ChannelPair[]): MatchedList {
  const lockedAt = [...stored.keys()].filter((at) => stored[at]?.locked === true);
  if (!Array.isArray(pairs)) {
    const isSame = pairs === undefined && lockedAt.length === 0;
    return { name, pairs: null, storedAt: [], paths: [], problems: [], isSame };
  }
  const indexesOf = new Map<string, number[]>();
  for (const at of lockedAt) {
    const id = keyId(name, stored[at]?.key);
    indexesOf.set(id, [...(indexesOf.get(id) ?? []), at]);
  }
  const counts = new Map<string, number>();
  for (const pair of pairs) {
    if (!isLocked(pair)) continue;
    const id = keyId(name, pair.key);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const seen = new Map<string, number>();
  const problems: RequestProblem[] = [];
  const storedAt = pairs.map((pair: unknown, index): number | null => {
    const refuse = (message: string): null => {
      problems.push(bodyProblem(['config', name, index, 'value'], message));
      return null;
    };
    if (!isPair(pair)) return null;
    const id = keyId(name, pair.key);
    const known = indexesOf.get(id) ?? [];
    const isEmpty = (pair.value ?? '') === '';
    if (!isLocked(pair)) {
      const isLost = isEmpty && known.length > (counts.get(id) ?? 0);
      return isLost ? refuse(UNLOCKED) : null;
    }
    const n = seen.get(id) ?? 0;
    seen.set(id, n + 1);
    if (!isEmpty) return null;
    if (known.length === 0) return refuse(NONE_STORED);
    if (known.length > 1 || (counts.get(id) ?? 0) > 1) {
      if (counts.get(id) !== known.length) return refuse(COUNT_DIFFERS);
    }
    return known[n] ?? null;
  });
  const retained = storedAt.filter((at) => at !== null);
  const lockedCount = pairs.filter(isLocked).length;
  return {
    name,
    pairs,
    storedAt,
    paths: [...storedAt.keys()]
      .filter((index) => storedAt[index] !== null)
      .map((index) => ['config', name, index, 'value']),
    problems,
    isSame:
      lockedCount === retained.length &&
      retained.length === lockedAt.length &&
      retained.every((at, n) => at === lockedAt[n]),
  };
}

/** Names of headers are case-insensitive. */
function keyId(name: ListName, key: unknown): string {
  return name === 'headers' ? String(key).toLowerCase() : String(key);
}

function isPair(pair: unknown): pair is RawBody & { readonly key: string } {
  return typeof pair === 'object' && pair !== null && typeof (pair as RawBody).key === 'string';
}

function isLocked(
  pair: unknown,
): pair is RawBody & { readonly key: string; readonly locked: true } {
  return isPair(pair) && pair.locked === true;
}
