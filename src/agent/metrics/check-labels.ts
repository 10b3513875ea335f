import type { Check } from '../../model/check/check.ts';
import { labelsText } from '../../runtime/metrics/exposition.ts';

export type GaugedCheck = Pick<Check, 'id' | 'name' | 'checkType' | 'request' | 'tags'>;

/** The labels of the metrics of a check: src/agent/README.md, "Metrics". */
export const CHECK_LABELS = [
  'check_id',
  'check_name',
  'check_type',
  'target',
  'location',
  'tags',
] as const;

const MAX_TARGET_CHARS = 200;
const MAX_TAG_CHARS = 100;
const MAX_TAGS_OF_CHECK = 10;
/** Maximum for all checks together: Prometheus stores each value. */
const MAX_DIFFERENT_TAGS = 500;

/** Counts of values that labels lack because of the limits above. */
export interface LeftOut {
  /** Targets that were cut. */
  readonly target: number;
  /** Tags of checks that METRIC_TAGS chose. */
  readonly tags: number;
}

export const NOTHING_LEFT_OUT: LeftOut = { target: 0, tags: 0 };

/** The labels of one check, except for its location, which is in its results. */
export interface LabelledCheck {
  readonly id: string;
  readonly name: string;
  readonly checkType: Check['checkType'];
  readonly target: string;
  readonly tags: string;
}

/**
 * The labels of all checks.
 *
 * @param chosen METRIC_TAGS: complete tags, or their start followed by `*`
 */
export function labelChecks(
  checks: readonly GaugedCheck[],
  chosen: readonly string[],
): { readonly labelled: readonly LabelledCheck[]; readonly leftOut: LeftOut } {
  const isChosen = matcherOf(chosen);
  const known = new Set<string>();
  const leftOut = { target: 0, tags: 0 };
  /** Whether the tag fits into the bounds. */
  const fits = (tag: string): boolean => {
    if (tag.length > MAX_TAG_CHARS || tag.includes(',')) return false;
    if (known.has(tag)) return true;
    if (known.size >= MAX_DIFFERENT_TAGS) return false;
    known.add(tag);
    return true;
  };
  const labelled = checks.map(({ id, name, checkType, request, tags }) => {
    const whole = targetOfRequest(request);
    if (whole.length > MAX_TARGET_CHARS) leftOut.target += 1;
    const wanted = [...new Set(tags)].filter(isChosen).sort((one, other) => (one < other ? -1 : 1));
    const shown = wanted.slice(0, MAX_TAGS_OF_CHECK).filter(fits);
    leftOut.tags += wanted.length - shown.length;
    return {
      id,
      name,
      checkType,
      target: cut(whole),
      // With commas at both ends, so that `.*,a tag,.*` matches one tag.
      tags: shown.length === 0 ? '' : `,${shown.join(',')},`,
    };
  });
  return { labelled, leftOut };
}

export function hasSameLabels(one: LabelledCheck | undefined, other: LabelledCheck): boolean {
  return (
    one?.name === other.name &&
    one.checkType === other.checkType &&
    one.target === other.target &&
    one.tags === other.tags
  );
}

export function labelsOf(
  check: LabelledCheck,
  location: string,
): Readonly<Record<(typeof CHECK_LABELS)[number], string>> {
  const { target, tags } = check;
  return { ...identityOf(check), target, location, tags };
}

/** Only the labels that the metrics of the previous release had. */
export function identityLabelsOf(check: LabelledCheck): string {
  return labelsText(identityOf(check));
}

function identityOf({ id, name, checkType }: LabelledCheck) {
  return { check_id: id, check_name: name, check_type: checkType };
}

/**
 * The target of a check, without anything that may be a secret: no user, password, query or
 * fragment of a URL. Templates stay as they are written.
 */
export function targetOfRequest(request: Check['request']): string {
  if ('url' in request) return withoutSecrets(request.url);
  if ('query' in request) {
    const { query, recordType, nameServer } = request;
    return `${query} ${recordType}${nameServer === null ? '' : ` @${nameServer}`}`;
  }
  const { hostname } = request;
  if (!('port' in request)) return hostname;
  return `${hostname.includes(':') ? `[${hostname}]` : hostname}:${request.port}`;
}

/** The scheme, which may be a template, and what is between it and the host. */
const USERINFO = /^((?:[a-z][a-z\d+.-]*:|\{{2,3}[^{}]*\}{2,3}:?)?[/\\]*)[^/\\]*@/i;

function withoutSecrets(url: string): string {
  const [address = ''] = url.split(/[?#]/, 1);
  return address.replace(USERINFO, '$1');
}

function cut(text: string): string {
  if (text.length <= MAX_TARGET_CHARS) return text;
  // Half of a surrogate pair would not be valid text.
  return `${text.slice(0, MAX_TARGET_CHARS - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function matcherOf(chosen: readonly string[]): (tag: string) => boolean {
  const complete = new Set(chosen.filter((one) => !one.endsWith('*')));
  const starts = chosen.filter((one) => one.endsWith('*')).map((one) => one.slice(0, -1));
  return (tag) => complete.has(tag) || starts.some((start) => tag.startsWith(start));
}
