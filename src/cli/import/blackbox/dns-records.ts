import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import { patternParts } from '../../../model/check/expressions.ts';
import { assertion } from '../common/assertions.ts';
import { isUnset, mappingOf, textsOf } from '../common/fields.ts';
import { patternFromGo, wholeMatch } from '../common/patterns.ts';
import { below } from '../common/source-file.ts';
import type { ModuleContext } from './module-parts.ts';

/** The section of an answer that each field is about, as TEXT_ANSWER names it. */
const SECTIONS = {
  validate_answer_rrs: 'ANSWER',
  validate_authority_rrs: 'AUTHORITY',
  validate_additional_rrs: 'ADDITIONAL',
} as const;
export const RECORD_FIELDS: readonly string[] = Object.keys(SECTIONS);

const NO_CHECK = 'so the module makes no checks, as they would pass with any records';
const BY_HAND = 'write the check by hand, with assertions on TEXT_ANSWER or JSON_ANSWER';
const UNLIKE_GO = `the regular expression has no translation to the syntax of assertions, JavaScript, ${NO_CHECK}`;
const ESCAPES_AND_CLASSES = /\\.|\[(?:\\.|[^\]\\])*\]/g;
/** A tab outside of a class of characters; other escapes, and classes, are its group. */
const TABS = /(\\[^t]|\[(?:\\.|[^\]\\])*\])|\\t|\t/g;

/** A pattern for one record. */
interface RecordPattern {
  /** `i`, `m`, both or none. */
  readonly flags: string;
  readonly source: string;
}

/**
 * Assertions with the rules about the records of an answer. TEXT_ANSWER has one line for each record, as in the
 * exporter, but with one or more tabs between columns.
 *
 * @returns null if a rule has no translation, which is reported: without it, a wrong answer would pass
 */
export function recordAssertions(
  section: RawMapping,
  context: ModuleContext,
): readonly Assertion[] | null {
  const made = Object.entries(SECTIONS).map(([field, title]) =>
    sectionAssertions(mappingOf(section[field]), field, title, context),
  );
  const complete = made.filter((assertions) => assertions !== null);
  return complete.length < made.length ? null : complete.flat();
}

function sectionAssertions(
  rules: RawMapping,
  field: string,
  title: string,
  context: ModuleContext,
): readonly Assertion[] | null {
  const { origin, draft } = context;
  const given = Object.keys(rules).filter((rule) => !isUnset(rules[rule]));
  const unknown = given.filter((rule) => !TRANSLATED.has(rule));
  for (const rule of unknown) {
    const why = `assertions have no such rule about records, ${NO_CHECK}`;
    draft.report.leftOut(below(origin, field, rule), why, BY_HAND);
  }
  const assertions: Assertion[] = [];
  let isComplete = unknown.length === 0;
  for (const [rule, translate] of TRANSLATED) {
    const patterns = patternsOf(rules[rule], [field, rule], context);
    const regexes = patterns === null ? null : translate(patterns, title);
    if (regexes === null) isComplete = false;
    else assertions.push(...regexes);
  }
  if (!isComplete) return null;
  if (assertions.length > 0) {
    const what = `its patterns are compared with each line of the ${title} SECTION of TEXT_ANSWER`;
    draft.report.changed(below(origin, field), what);
  }
  return assertions;
}

type Translation = (patterns: readonly RecordPattern[], title: string) => readonly Assertion[];

const TRANSLATED: ReadonlyMap<string, Translation> = new Map<string, Translation>([
  [
    'fail_if_matches_regexp',
    (patterns, title) =>
      patterns.map((pattern) => ofText('IS_NULL', pattern.flags, recordWith(pattern, title))),
  ],
  [
    'fail_if_not_matches_regexp',
    (patterns, title) =>
      patterns.length === 0
        ? []
        : [
            // An answer without records fails, too.
            ofText('NOT_NULL', '', `;; ${title} SECTION:`),
            ...patterns.map((pattern) =>
              ofText('IS_NULL', pattern.flags, recordWithout(pattern, title)),
            ),
          ],
  ],
  [
    'fail_if_none_matches_regexp',
    (patterns, title) => {
      const [first] = patterns;
      if (first === undefined) return [];
      // One match of any of them is enough.
      const source = patterns.map((pattern) => pattern.source).join('|');
      return [ofText('NOT_NULL', first.flags, recordWith({ ...first, source }, title))];
    },
  ],
]);

function ofText(comparison: 'IS_NULL' | 'NOT_NULL', flags: string, source: string): Assertion {
  const regex = wholeMatch(flags === '' ? source : `(?${flags})${source}`);
  return assertion('TEXT_ANSWER', comparison, '', { regex });
}

/** The section's lines before any of its records. An empty line ends it. */
function linesBefore(title: string): string {
  return `;; ${title} SECTION:\\n(?:[^\\n]+\\n)*?`;
}

function recordWith({ source }: RecordPattern, title: string): string {
  return `${linesBefore(title)}[^\\n]*?(?:${source})`;
}

function recordWithout({ source }: RecordPattern, title: string): string {
  return `${linesBefore(title)}(?![^\\n]*?(?:${source}))[^\\n]`;
}

/**
 * The patterns of one rule. They have the same flags, so that one assertion can have several.
 *
 * @returns null if one has no translation, which is reported
 */
function patternsOf(
  value: unknown,
  path: readonly (string | number)[],
  { origin, draft }: ModuleContext,
): readonly RecordPattern[] | null {
  const patterns = textsOf(value).map(recordPattern);
  const complete = patterns.filter((pattern) => pattern !== null);
  const [first] = complete;
  const isAlike = complete.every(({ flags }) => flags.includes('i') === first?.flags.includes('i'));
  if (complete.length < patterns.length || !isAlike) {
    draft.report.leftOut(below(origin, ...path), UNLIKE_GO, BY_HAND);
    return null;
  }
  // Without an anchor, m changes nothing.
  const flags = complete.map((pattern) => pattern.flags).find((some) => some.includes('m'));
  return complete.map((pattern) => ({ ...pattern, flags: flags ?? pattern.flags }));
}

/** null for a pattern without translation. */
function recordPattern(text: string): RecordPattern | null {
  const pattern = patternFromGo(text);
  if (pattern === null) return null;
  const { flags, source } = patternParts(pattern);
  const isAnchored = /[\^$]/.test(source.replaceAll(ESCAPES_AND_CLASSES, ''));
  return {
    // A line has no line feed for s. With m, ^ and $ are its ends, as of a record in the exporter.
    flags: `${flags.includes('i') ? 'i' : ''}${isAnchored ? 'm' : ''}`,
    source: source.replaceAll(TABS, (_, other: string | undefined) => other ?? '(?:\\t+)'),
  };
}
