import type {
  ChannelPair,
  OpenWebhookConfig,
  WebhookConfig,
} from '../../../model/alerting/alert-channel.ts';
import { originOf } from '../../../model/credentials/origin.ts';
import { invalid, type RequestProblem } from '../../errors.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';

type Given = Readonly<Record<string, unknown>>;
type ListName = (typeof LISTS)[number];

export interface RetainedSecrets {
  /** What was given, with the stored secrets in it that it keeps. */
  readonly config: Given;
  /** Where those stand. */
  readonly paths: readonly (readonly (string | number)[])[];
  /** Whether all that is stored is kept, in the order in which it stands, and nothing is new. */
  readonly isSame: boolean;
}

const ELSEWHERE =
  'must be given again: a locked value stays only where scheme, host and port of the URL stay the same';
const NONE_STORED = 'must be given: no locked value of this key is stored, and this one is empty';
const UNLOCKED =
  'must be given again, as it was locked and is to be so no more; to remove it, leave its key out';
const COUNT_DIFFERS =
  'must be given again: there are several locked values of this key, and not as many as were stored';

const LISTS = ['headers', 'queryParameters'] as const;

/**
 * What somebody sends with an update, with the secrets that were not shown to them: a locked value
 * that is empty is the stored one of the same key, and a secret that is left out stays.
 *
 * @param opened gives the stored configuration with its secrets; called only where one is kept, so
 *   that a channel whose secrets cannot be read any more can be given new ones
 * @throws ServiceError 400 where a stored value would be lost or stand for another one, and where a
 *   locked value is kept and the URL has another scheme, host or port: whoever may write could read
 *   there, or on the way, what nobody is to read
 */
export function withKeptSecrets(
  given: Given,
  stored: OpenWebhookConfig,
  opened: () => WebhookConfig,
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
  const filled = lists.flatMap(({ name, pairs, places }) => {
    if (pairs === null) return [];
    const whole = pairs.map((pair, index) => {
      const at = places[index] ?? null;
      return at === null ? pair : { ...(pair as object), value: opened()[name][at]?.value };
    });
    return [[name, whole] as const];
  });
  const keepsKey = config.webhookSecret === undefined && stored.hasWebhookSecret;
  const isKeySame =
    keepsKey || (!stored.hasWebhookSecret && (config.webhookSecret ?? null) === null);
  return {
    config: {
      ...config,
      ...(keepsKey ? { webhookSecret: opened().webhookSecret } : {}),
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
  /** null where it is no list. */
  readonly pairs: readonly unknown[] | null;
  /** Which stored pair each given one is whose value is kept, else null. */
  readonly places: readonly (number | null)[];
  readonly paths: readonly (readonly (string | number)[])[];
  readonly problems: readonly RequestProblem[];
  readonly isSame: boolean;
}

/** The n-th locked pair of a key is the n-th that is stored. */
function matchList(name: ListName, pairs: unknown, stored: readonly ChannelPair[]): MatchedList {
  const lockedAt = [...stored.keys()].filter((at) => stored[at]?.locked === true);
  if (!Array.isArray(pairs)) {
    const isSame = pairs === undefined && lockedAt.length === 0;
    return { name, pairs: null, places: [], paths: [], problems: [], isSame };
  }
  const placesOf = new Map<string, number[]>();
  for (const at of lockedAt) {
    const id = keyId(name, stored[at]?.key);
    placesOf.set(id, [...(placesOf.get(id) ?? []), at]);
  }
  const counts = new Map<string, number>();
  for (const pair of pairs) {
    if (!isLocked(pair)) continue;
    const id = keyId(name, pair.key);
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const met = new Map<string, number>();
  const problems: RequestProblem[] = [];
  const places = pairs.map((pair: unknown, index): number | null => {
    const refuse = (message: string): null => {
      problems.push(bodyProblem(['config', name, index, 'value'], message));
      return null;
    };
    if (!isPair(pair)) return null;
    const id = keyId(name, pair.key);
    const known = placesOf.get(id) ?? [];
    const isEmpty = (pair.value ?? '') === '';
    if (!isLocked(pair)) {
      const isLost = isEmpty && known.length > (counts.get(id) ?? 0);
      return isLost ? refuse(UNLOCKED) : null;
    }
    const n = met.get(id) ?? 0;
    met.set(id, n + 1);
    if (!isEmpty) return null;
    if (known.length === 0) return refuse(NONE_STORED);
    if (known.length > 1 || (counts.get(id) ?? 0) > 1) {
      if (counts.get(id) !== known.length) return refuse(COUNT_DIFFERS);
    }
    return known[n] ?? null;
  });
  const kept = places.filter((at) => at !== null);
  const lockedCount = pairs.filter(isLocked).length;
  return {
    name,
    pairs,
    places,
    paths: [...places.keys()]
      .filter((index) => places[index] !== null)
      .map((index) => ['config', name, index, 'value']),
    problems,
    isSame:
      lockedCount === kept.length &&
      kept.length === lockedAt.length &&
      kept.every((at, n) => at === lockedAt[n]),
  };
}

/** Names of headers are the same in any case. */
function keyId(name: ListName, key: unknown): string {
  return name === 'headers' ? String(key).toLowerCase() : String(key);
}

function isPair(pair: unknown): pair is Given & { readonly key: string } {
  return typeof pair === 'object' && pair !== null && typeof (pair as Given).key === 'string';
}

function isLocked(pair: unknown): pair is Given & { readonly key: string; readonly locked: true } {
  return isPair(pair) && pair.locked === true;
}
