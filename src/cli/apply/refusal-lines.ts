import { extname } from 'node:path';
import { ProblemList } from '../../agent/source/common/file-problem.ts';
import { isMapping } from '../../agent/source/common/raw-mapping.ts';
import { readDocument } from '../../agent/source/file/document/document.ts';
import { readCheckFileText } from '../../agent/source/file/load-check-file.ts';
import { ENTRY_NOUNS, SECTIONS } from '../../model/check-file/sections.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import type { ApplyRefusal } from './check-plan.ts';

const MAX_LINE_CHARS = 1000;

/** One line for each reason of the refusals, with the position of the check or variable in its file. */
export async function refusalLines(
  file: string,
  refusals: readonly ApplyRefusal[],
): Promise<readonly string[]> {
  if (refusals.length === 0) return [];
  const lineOf = await fileLines(file);
  return refusals.flatMap((refusal) => {
    const { kind, id, reasons } = refusal;
    const line = lineOf(refusal);
    const position = line === null ? terminalSafe(file) : `${terminalSafe(file)}:${line}`;
    return reasons.map((reason) =>
      terminalSafe(`${position}: ${nounOf(kind)} ${JSON.stringify(id)} ${reason}`, MAX_LINE_CHARS),
    );
  });
}

export function nounOf(kind: ApplyRefusal['kind']): string {
  if (kind === 'escalation') return 'the field';
  return kind === 'check' || kind === 'variable' ? kind : ENTRY_NOUNS[kind];
}

const MAX_WARNING_LINES = 50;

/**
 * Returns one line for each warning about the written checks, in the form of `refusalLines`. A warning about
 * several checks, such as a location without agents, has only one line.
 */
export async function warningLines(
  file: string,
  warned: readonly { readonly id: string; readonly warnings: readonly string[] }[],
): Promise<readonly string[]> {
  const idsOf = new Map<string, string[]>();
  for (const { id, warnings } of warned) {
    for (const warning of warnings) idsOf.set(warning, [...(idsOf.get(warning) ?? []), id]);
  }
  const ofOne: ApplyRefusal[] = [];
  const ofSeveral: string[] = [];
  for (const [warning, [id = '', ...others]] of idsOf) {
    if (others.length === 0) {
      ofOne.push({ kind: 'check', id, reasons: [`has a warning: ${warning}`] });
    } else {
      const line = `${terminalSafe(file)}: ${others.length + 1} checks have a warning: ${warning}`;
      ofSeveral.push(terminalSafe(line, MAX_LINE_CHARS));
    }
  }
  const lines = [...(await refusalLines(file, ofOne)), ...ofSeveral];
  const more = lines.length - MAX_WARNING_LINES;
  if (more <= 0) return lines;
  return [...lines.slice(0, MAX_WARNING_LINES), `${terminalSafe(file)}: ${more} more warnings`];
}

/**
 * Finds the lines of checks and variables in their file, from 1. Reads the file again, because only refusals need
 * the lines. Returns none if the file can no longer be read.
 */
async function fileLines(
  file: string,
): Promise<(of: Pick<ApplyRefusal, 'kind' | 'id'>) => number | null> {
  try {
    const text = await readCheckFileText(file);
    const language = extname(file).toLowerCase() === '.json' ? 'JSON' : 'YAML';
    const document = readDocument(text, language, new ProblemList());
    const linesOf = (list: string, field: string): ReadonlyMap<unknown, number> => {
      const lines = new Map<unknown, number>();
      for (const [index, name] of namesIn(document?.value, list, field).entries()) {
        const position = document?.locate([list, index]);
        if (position !== undefined) lines.set(name, position.line);
      }
      return lines;
    };
    const escalation = document?.locateKey(['escalationStep']).line;
    const lines = new Map<ApplyRefusal['kind'], ReadonlyMap<unknown, number>>([
      ['escalation', new Map(escalation === undefined ? [] : [['escalationStep', escalation]])],
      ['check', linesOf('checks', 'id')],
      ['variable', linesOf('variables', 'key')],
      ...SECTIONS.map((section) => [section, linesOf(section, 'id')] as const),
    ]);
    return ({ kind, id }) => lines.get(kind)?.get(id) ?? null;
  } catch {
    return () => null;
  }
}

function namesIn(root: unknown, list: string, field: string): readonly unknown[] {
  const entries = isMapping(root) ? root[list] : null;
  if (!Array.isArray(entries)) return [];
  return entries.map((entry: unknown) => (isMapping(entry) ? entry[field] : undefined));
}
