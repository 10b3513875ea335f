import type { Check } from '../../../model/check/check.ts';
import { stableId } from '../../../model/ids.ts';
import { withTarget } from '../../probe-endpoint/probe-target.ts';
import type { TargetGroup } from './target-document.ts';

/** A check for a target, or why there is none. */
export type Expanded =
  | { readonly ok: true; readonly check: Check }
  | { readonly ok: false; readonly target: string; readonly problem: string };

const MAX_NAME_CHARS = 255;
const MAX_TAG_CHARS = 255;
const MAX_TAGS = 100;
const PLACEHOLDER = /\{\{\s*([A-Za-z_]\w*)\s*\}\}/g;
/** Prometheus does not store labels that begin so. */
const INTERNAL = '__';

/**
 * The checks of a check for each of its targets, in their order; a target that is named twice counts once
 * (src/agent/README.md, "Targets from Prometheus documents"). Made when it is their turn.
 */
export function* expandCheck(
  check: Check,
  groups: readonly TargetGroup[],
): Generator<Expanded, void, undefined> {
  const known = new Set<string>();
  for (const { targets, labels } of groups) {
    for (const target of targets) {
      if (known.has(target)) continue;
      known.add(target);
      yield checkFor(check, target, labels);
    }
  }
}

function checkFor(check: Check, target: string, labels: TargetGroup['labels']): Expanded {
  const found = withTarget(check, target);
  if (!found.ok) return { ok: false, target, problem: found.problem };
  const own = Object.entries(labels).filter(
    ([name, value]) => !name.startsWith(INTERNAL) && value !== '',
  );
  const tags = own.map(([name, value]) =>
    `${name}:${value}`.slice(0, MAX_TAG_CHARS).toWellFormed(),
  );
  return {
    ok: true,
    check: {
      ...found.check,
      id: idFor(check.id, target),
      name: nameFor(check.name, { ...labels, target }),
      tags: [...new Set([...check.tags, ...tags])].slice(0, MAX_TAGS),
    },
  };
}

/** The same for the same target, whatever else is in the document. */
function idFor(checkId: string, target: string): string {
  const readable = target
    .replace(/^https?:\/\//i, '')
    .replaceAll(/[^A-Za-z0-9.]+/g, '-')
    .slice(0, 40);
  return `${checkId.slice(0, 45)}-${readable}-${stableId('target', target).slice(0, 8)}`;
}

/** `{{team}}` in a name becomes the label `team`; a name without placeholders is followed by the target. */
function nameFor(name: string, values: Readonly<Record<string, string>>): string {
  const filled = name.replaceAll(PLACEHOLDER, (_whole, label: string) =>
    Object.hasOwn(values, label) ? (values[label] ?? '') : '',
  );
  const whole = filled === name ? `${name} ${values.target}` : filled;
  const shown = whole.slice(0, MAX_NAME_CHARS).toWellFormed().trim();
  return shown === '' ? 'unnamed' : shown;
}
