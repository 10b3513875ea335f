import type {
  ChannelPair,
  OpenWebhookConfig,
  WebhookConfig,
} from '../../../model/alert-channel.ts';
import { originOf } from '../../../model/credentials/origin.ts';
import { invalid, type RequestProblem } from '../../errors.ts';
import { bodyProblem } from '../input-problems.ts';

type Given = Readonly<Record<string, unknown>>;

const ELSEWHERE =
  'must be given again: a locked value stays only where scheme, host and port of the URL stay the same';

const LISTS = ['headers', 'queryParameters'] as const;

/**
 * What somebody sends with an update, with the secrets that were not shown to them: a locked value
 * that is empty is the stored one of the same key, and a secret that is left out stays.
 *
 * @param opened gives the stored configuration with its secrets; called only where one is kept, so
 *   that a channel whose secrets cannot be read any more can be given new ones
 * @throws ServiceError 400 where a locked value is kept and the URL has another scheme, host or port:
 *   whoever may write could read there, or on the way, what nobody is to read
 */
export function withKeptSecrets(
  given: Given,
  stored: OpenWebhookConfig,
  opened: () => WebhookConfig,
): Given {
  const { hasWebhookSecret: _, ...config } = given;
  const problems: RequestProblem[] = [];
  const leadsElsewhere =
    typeof config.url === 'string' && originOf(config.url) !== originOf(stored.url);
  const lists = LISTS.flatMap((name) => {
    const pairs: unknown = config[name];
    if (!Array.isArray(pairs)) return [];
    const isSame = name === 'headers' ? sameHeader : sameText;
    const known = placesOf(pairs, stored[name], isSame);
    for (const [index, at] of known.entries()) {
      if (at === null || !leadsElsewhere) continue;
      const path = ['config', name, index, 'value'];
      problems.push(bodyProblem(path, ELSEWHERE));
    }
    const filled = pairs.map((pair: unknown, index) => {
      const at = known[index] ?? null;
      return at === null ? pair : { ...(pair as object), value: opened()[name][at]?.value };
    });
    return [[name, filled] as const];
  });
  if (problems.length > 0) throw invalid(problems);
  const keepsKey = config.webhookSecret === undefined && stored.hasWebhookSecret;
  return {
    ...config,
    ...(keepsKey ? { webhookSecret: opened().webhookSecret } : {}),
    ...Object.fromEntries(lists),
  };
}

function sameText(one: string, other: string): boolean {
  return one === other;
}

function sameHeader(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Which stored pair each of those is whose value is kept, else null. Of several with the same key, the first takes the first. */
function placesOf(
  given: readonly unknown[],
  stored: readonly ChannelPair[],
  isSame: (one: string, other: string) => boolean,
): readonly (number | null)[] {
  const left = new Set(stored.keys());
  return given.map((pair) => {
    if (!isHidden(pair)) return null;
    for (const at of left) {
      const known = stored[at];
      if (known?.locked !== true || !isSame(known.key, pair.key)) continue;
      left.delete(at);
      return at;
    }
    return null;
  });
}

function isHidden(pair: unknown): pair is { readonly key: string; readonly locked: true } {
  if (typeof pair !== 'object' || pair === null) return false;
  const { key, value, locked } = pair as Given;
  return typeof key === 'string' && locked === true && (value === undefined || value === '');
}
