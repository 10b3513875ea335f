import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import {
  isFromDefaults,
  NO_DEFAULTS,
  withDefaults,
} from '../../agent/source/common/check-defaults.ts';
import {
  type DocumentPath,
  ProblemList,
  pathText,
} from '../../agent/source/common/file-problem.ts';
import { isMapping, type RawMapping } from '../../agent/source/common/raw-mapping.ts';
import { keysAt } from '../../agent/source/common/schema-info.ts';
import { readDocument, type SourceDocument } from '../../agent/source/file/document/document.ts';
import { readCheckFileText } from '../../agent/source/file/load-check-file.ts';
import type { CheckFile } from '../../agent/source/file/parse-check-file.ts';
import { CHECK_SHAPES, type Check } from '../../model/check/check.ts';
import { MERGED_FIELDS } from '../../model/check-file/defaults.ts';
import { idleSettings } from '../../model/check-file/idle-settings.ts';
import { ENTRY_NOUNS, SECTIONS } from '../../model/check-file/sections.ts';

/** The file is read once more, with positions, which takes some 5 ms for each kilobyte. */
const MAX_BYTES = 1024 * 1024;

/**
 * One line for each setting of a valid file that does nothing, with its position, up to the bound of
 * problems. None for a pipe, which cannot be read again, and for a very long file.
 */
export async function idleSettingLines(
  file: string,
  checkFile: Pick<CheckFile, 'checks' | 'resources'>,
): Promise<readonly string[]> {
  const stats = await stat(file).catch(() => null);
  if (stats === null || !stats.isFile() || stats.size > MAX_BYTES) return [];
  const text = await readCheckFileText(file);
  const language = extname(file).toLowerCase() === '.json' ? 'JSON' : 'YAML';
  const document = readDocument(text, language, new ProblemList());
  // It has changed meanwhile.
  if (document === null || !isMapping(document.value)) return [];
  const found = new IdleSettings(document);
  const root = document.value;
  addOfChecks(found, root, checkFile.checks);
  for (const section of SECTIONS) {
    const entries = checkFile.resources.sections[section];
    for (const [index, raw] of entriesOf(root[section]).entries()) {
      const entry = entries.find(({ id }) => id === raw.id);
      if (entry === undefined) continue;
      const of = ` of ${ENTRY_NOUNS[section]} ${JSON.stringify(entry.id)}`;
      for (const { path, why } of idleSettings(section, { given: raw, inForce: entry.fields })) {
        found.add([section, index, ...path], of, why);
      }
    }
  }
  return found.lines(file);
}

/** Collects settings for their lines, in the order of the file. */
class IdleSettings {
  readonly #document: SourceDocument;
  readonly #list = new ProblemList();

  constructor(document: SourceDocument) {
    this.#document = document;
  }

  add(path: DocumentPath, of: string, why: string): void {
    const at = () => this.#document.locateKey(path);
    this.#list.add(pathText(path), of, `has no effect: ${why}`, at);
  }

  lines(file: string): readonly string[] {
    return this.#list.isEmpty ? [] : this.#list.toError(file, []).lines();
  }
}

/** The number of checks that take a default, and the number of those in which it has no effect. */
interface DefaultUse {
  readonly path: readonly string[];
  taken: number;
  idle: number;
  why: string;
}

function addOfChecks(found: IdleSettings, root: RawMapping, checks: readonly Check[]): void {
  const defaults = isMapping(root.defaults) ? root.defaults : NO_DEFAULTS;
  const uses = new Map(defaultPaths(defaults).map((path) => [path.join('.'), newUse(path)]));
  const byId = new Map(checks.map((check) => [check.id, check]));
  for (const [index, raw] of entriesOf(root.checks).entries()) {
    const check = byId.get(String(raw.id));
    if (check === undefined) continue;
    const { checkType } = check;
    const given = withDefaults(raw, defaults, checkType);
    const idle = idleSettings('checks', { given, inForce: { ...check } });
    for (const use of uses.values()) if (takes(raw, defaults, use.path, checkType)) use.taken += 1;
    for (const { path, why } of idle) {
      if (!isFromDefaults(raw, defaults, path)) {
        found.add(['checks', index, ...path], ` of check ${JSON.stringify(check.id)}`, why);
        continue;
      }
      // A whole merged field, or a part of one of its values.
      const concerned = [...uses.values()].filter(
        (use) => startsWith(use.path, path) || startsWith(path, use.path),
      );
      for (const use of concerned) {
        use.idle += 1;
        use.why = why;
      }
    }
  }
  for (const { path, taken, idle, why } of uses.values()) {
    if (taken === idle) found.add(['defaults', ...path], '', taken === 0 ? UNTAKEN : why);
  }
}

const UNTAKEN = 'every check sets it itself, or is of a type that does not have it';

function newUse(path: readonly string[]): DefaultUse {
  return { path, taken: 0, idle: 0, why: '' };
}

/** The path of each value of `defaults` that checks take separately: in merged fields, of each inner value. */
function defaultPaths(defaults: RawMapping): readonly (readonly string[])[] {
  return Object.entries(defaults).flatMap(([key, value]) =>
    isMerged(key) && isMapping(value) ? Object.keys(value).map((inner) => [key, inner]) : [[key]],
  );
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((step, at) => path[at] === step);
}

function isMerged(key: string | undefined): boolean {
  return MERGED_FIELDS.some((field) => field === key);
}

function takes(
  raw: RawMapping,
  defaults: RawMapping,
  path: readonly string[],
  checkType: Check['checkType'],
): boolean {
  const [last = ''] = path.slice(-1);
  const known = keysAt(CHECK_SHAPES[checkType], path.slice(0, -1));
  return known.includes(last) && isFromDefaults(raw, defaults, path);
}

/** The entries of a list that are mappings, each at its index. A valid file has no other entries. */
function entriesOf(list: unknown): readonly RawMapping[] {
  return Array.isArray(list) ? list.map((entry: unknown) => (isMapping(entry) ? entry : {})) : [];
}
