import { Document, isCollection, isMap, isScalar } from 'yaml';
import { terminalSafe } from '../../print/terminal-safe.ts';
import { type Draft, type DraftEntry, IMPORTED_DEFAULTS } from './draft.ts';

const INTRODUCTION = [
  'Made by `vedette import`. What it left out or changed stands in its messages. Next:',
  '  vedette validate FILE         finds mistakes',
  '  vedette run FILE              runs each check once',
  '  vedette apply FILE --dry-run  shows what would change at a service',
  'With its name, apply refuses to change checks that a file with another name has made.',
];

/**
 * Formats the draft as a check file in YAML, with a comment about the origin of each entry.
 *
 * @param name the name of the file, in the form of CHECK_ID
 */
export function checkFileText(
  { checks, groups, heartbeats, wantedVariables }: Draft,
  name: string,
): string {
  const sections = { groups, heartbeats, checks };
  const filled = Object.entries(sections).filter(([, entries]) => entries.length > 0);
  const content = Object.fromEntries(
    filled.map(([section, entries]) => [section, entries.map(({ entry }) => entry)]),
  );
  const document = new Document(
    { name, ...(checks.length === 0 ? {} : { defaults: IMPORTED_DEFAULTS }), ...content },
    { aliasDuplicateObjects: false },
  );
  for (const [section, entries] of filled) comment(document.get(section), entries);
  const wanted = wantedVariables.map(({ name: key, meaning }) => `  ${key}: ${meaning}`);
  const list =
    wanted.length === 0
      ? []
      : [
          '',
          'Set these variables (VARIABLES_FROM_ENV or VARIABLES_DIR of the agent, vedette run --env-file,',
          'or variables of the account); their values are not in this file:',
          ...wanted,
        ];
  document.commentBefore = [...INTRODUCTION, ...list].map(commentLine).join('\n');
  return document.toString({ lineWidth: 0, singleQuote: false });
}

function comment(section: unknown, entries: readonly DraftEntry[]): void {
  if (!isCollection(section)) return;
  for (const [index, { comment: text }] of entries.entries()) {
    const item = section.items[index];
    if (isMap(item) || isScalar(item)) item.commentBefore = commentLine(text);
  }
}

/** Escapes a text so that it cannot end the comment. */
function commentLine(text: string): string {
  return text === '' ? '' : ` ${terminalSafe(text)}`;
}
