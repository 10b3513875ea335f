import { isDeepStrictEqual } from 'node:util';
import type { Check } from '../../../model/check/check.ts';
import { stableId } from '../../../model/ids.ts';
import { withTarget } from '../../blackbox-probe/probe-target.ts';
import type { DocumentTargets, TargetGroup } from './target-document.ts';

/** A check for a target, or why there is none. */
export type Expanded = TargetPosition &
  (
    | { readonly ok: true; readonly check: Check }
    | {
        readonly ok: false;
        /** Whether the target must not be shown. */
        readonly isSecret: boolean;
        readonly problem: string;
      }
  );

interface TargetPosition {
  readonly target: string;
  /** The name of the document. */
  readonly document: string;
  /** The path of the target in the document, for example `0.targets.2`. */
  readonly at: string;
}

const MAX_NAME_CHARS = 255;
const MAX_TAG_CHARS = 255;
const MAX_TAGS = 100;
const PLACEHOLDER = /\{\{\s*([A-Za-z_]\w*)\s*\}\}/g;
/** Prometheus does not store labels with this prefix. */
const INTERNAL = '__';
/** `user:password@` before the host, with or without a scheme. */
const USERINFO = /^\s*(?:[a-z][a-z\d+.-]*:)?[/\\]*[^/\\?#]*@/i;
/** Characters that a URL parser removes (https://url.spec.whatwg.org/#url-parsing). */
const IGNORED_IN_URLS = /[\t\n\r]/g;

/**
 * Yields a check for each target, in the order of the targets; a target that is listed twice counts
 * once (src/agent/README.md, "Targets from Prometheus documents").
 *
 * @param before the previous checks of the same check, by target: an unchanged check remains the
 *   same object
 */
export function* expandCheck(
  check: Check,
  documents: readonly DocumentTargets[],
  before: ReadonlyMap<string, Expanded> = new Map(),
): Generator<Expanded, void, undefined> {
  const known = new Set<string>();
  for (const { name: document, groups } of documents) {
    for (const [group, { targets, labels }] of groups.entries()) {
      for (const [index, target] of targets.entries()) {
        if (known.has(target)) continue;
        known.add(target);
        const position = { target, document, at: `${group}.targets.${index}` };
        yield expandTarget(check, position, labels, before.get(target));
      }
    }
  }
}

function expandTarget(
  check: Check,
  position: TargetPosition,
  labels: TargetGroup['labels'],
  before: Expanded | undefined,
): Expanded {
  const { target } = position;
  // Ids, names and labels of metrics would show the password.
  if (USERINFO.test(target.replaceAll(IGNORED_IN_URLS, ''))) {
    return { ok: false, ...position, isSecret: true, problem: 'it has a user or password' };
  }
  const id = idFor(check.id, target);
  const name = nameFor(check.name, { ...labels, target });
  const tags = tagsFor(check, labels);
  if (
    before?.ok === true &&
    before.check.name === name &&
    isDeepStrictEqual(before.check.tags, tags)
  ) {
    return { ...before, ...position };
  }
  const found = withTarget(check, target);
  if (!found.ok) return { ok: false, ...position, isSecret: false, problem: found.problem };
  // A check that is only a module is not activated; its targets are.
  return { ok: true, ...position, check: { ...found.check, id, name, tags, activated: true } };
}

function tagsFor(check: Check, labels: TargetGroup['labels']): string[] {
  const own = Object.entries(labels).filter(
    ([name, value]) => !name.startsWith(INTERNAL) && value !== '',
  );
  const tags = own.map(([name, value]) =>
    `${name}:${value}`.slice(0, MAX_TAG_CHARS).toWellFormed(),
  );
  return [...new Set([...check.tags, ...tags])].slice(0, MAX_TAGS);
}

/** Depends only on the check and the target, not on the rest of the document. */
function idFor(checkId: string, target: string): string {
  const readable = target
    .replace(/^https?:\/\//i, '')
    .replaceAll(/[^A-Za-z0-9.]+/g, '-')
    .slice(0, 40);
  return `${checkId.slice(0, 45)}-${readable}-${stableId('target', checkId, target).slice(0, 8)}`;
}

/**
 * `{{team}}` in a name becomes the label `team`; a name without placeholders is followed by the
 * target.
 */
function nameFor(name: string, values: Readonly<Record<string, string>>): string {
  const filled = name.replaceAll(PLACEHOLDER, (_whole, label: string) =>
    Object.hasOwn(values, label) ? (values[label] ?? '') : '',
  );
  const whole = filled === name ? `${name} ${values.target}` : filled;
  const shown = whole.slice(0, MAX_NAME_CHARS).toWellFormed().trim();
  return shown === '' ? 'unnamed' : shown;
}
