/** How a source's look-up ended, as nsswitch.conf(5) names it; SUCCESS always ends the look-up. */
export type SourceStatus = 'NOTFOUND' | 'UNAVAIL' | 'TRYAGAIN';

export interface NameSource {
  /** `files`, `dns`, `mdns4_minimal`, `resolve`, … */
  readonly name: string;
  /** Statuses after which no further source is queried. */
  readonly returnOn: ReadonlySet<SourceStatus>;
}

const STATUSES: readonly SourceStatus[] = ['NOTFOUND', 'UNAVAIL', 'TRYAGAIN'];

/** Used without a file or without a `hosts` line. */
const DEFAULT_LINE = 'files dns';

export function parseNsswitch(text: string): readonly NameSource[] {
  const line = text
    .split('\n')
    .map((raw) => raw.replace(/#.*$/s, '').trim())
    .find((candidate) => /^hosts\s*:/i.test(candidate));
  const entries = line === undefined ? DEFAULT_LINE : line.slice(line.indexOf(':') + 1);
  const sources: { name: string; returnOn: Set<SourceStatus> }[] = [];
  for (const [entry] of entries.matchAll(/\[[^\]]*\]|[^\s[\]]+/g)) {
    if (!entry.startsWith('[')) sources.push({ name: entry.toLowerCase(), returnOn: new Set() });
    else applyActions(sources.at(-1)?.returnOn, entry.slice(1, -1));
  }
  return sources;
}

/** `NOTFOUND=return`, or `!UNAVAIL=return`: all statuses but that one. */
function applyActions(returnOn: Set<SourceStatus> | undefined, actions: string): void {
  for (const [, negated, status, action] of actions.matchAll(/(!?)\s*(\w+)\s*=\s*(\w+)/g)) {
    const named = (candidate: SourceStatus): boolean => candidate === status?.toUpperCase();
    for (const candidate of STATUSES) {
      if (named(candidate) === (negated === '!')) continue;
      if (action?.toLowerCase() === 'return') returnOn?.add(candidate);
      else returnOn?.delete(candidate);
    }
  }
}
