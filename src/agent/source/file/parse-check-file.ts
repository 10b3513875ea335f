import { extname } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Check } from '../../../model/check/check.ts';
import type { ClientCertificate } from '../../../model/check/client-certificate.ts';
import { cycleIn } from '../../../model/check/dependencies.ts';
import {
  type CheckReferences,
  type FileResources,
  NO_RESOURCES,
  SECTIONS,
} from '../../../model/check-file/sections.ts';
import { CHECK_ID } from '../../../model/ids.ts';
import { loadSequentially } from '../../../runtime/load-sequentially.ts';
import type { CheckSet } from '../check-source.ts';
import { knownDefaults, NO_DEFAULTS } from '../common/check-defaults.ts';
import { type DocumentPath, ProblemList, TOP } from '../common/file-problem.ts';
import { isMapping, type RawMapping } from '../common/raw-mapping.ts';
import { SimilarCheckParser } from '../common/similar-checks.ts';
import { readCheck } from './check-entry.ts';
import { readClientCertificate } from './client-certificate-entry.ts';
import type { SourceDocument } from './document/document.ts';
import { readPlainJson } from './document/plain-json.ts';
import { fingerprintOf, MAX_SET_CHARS } from './fingerprint.ts';
import { createProblemReporter, type ProblemReporter } from './problem-reporter.ts';
import { readKnownIds, readResources } from './resources/read-resources.ts';
import type { KnownIds } from './resources/references.ts';
import { shownValue, unknownKeyText } from './schema-issue.ts';
import { readVariables } from './variable-entries.ts';

const MAX_CHECKS = 100_000;
const MAX_CLIENT_CERTIFICATES = 1000;
/** Yields to the event loop after this many checks. */
const CHECKS_PER_YIELD = 100;
const EMPTY: Content = {
  name: null,
  checks: [],
  variables: [],
  clientCertificates: [],
  resources: NO_RESOURCES,
  pemFiles: [],
};
const TOP_KEYS = [
  'name',
  'checks',
  'defaults',
  'variables',
  'clientCertificates',
  'escalationStep',
  ...SECTIONS,
] as const;

/** The contents of a check file. */
export interface CheckFile extends Pick<CheckSet, 'checks' | 'variables' | 'clientCertificates'> {
  /** Distinguishes the objects of this file in a service from those of others; null if missing. */
  readonly name: string | null;
  readonly resources: FileResources;
  /** Absolute paths of the PEM files that it names. */
  readonly pemFiles: readonly string[];
  /** See `fingerprintOf`; null if not yet computed. */
  readonly fingerprint: string | null;
}
type Content = Omit<CheckFile, 'fingerprint'>;

/**
 * Reads the text of a check file (YAML or JSON; src/model/README.md, "The check file"), and the PEM
 * files that it names.
 *
 * @param file the source of the text, for messages and as the base of relative paths
 * @throws FileProblemsError with every problem, up to its bound
 */
export async function parseCheckFile(text: string, file: string): Promise<CheckFile> {
  const plain = await parsePlainCheckFile(text, file);
  if (plain !== null) return plain;
  // Imported on demand, as loading takes long.
  loadSequentially(import.meta.url, './document/document.js');
  const { readDocument } = await import('./document/document.ts');
  const problems = new ProblemList();
  const language = extname(file).toLowerCase() === '.json' ? 'JSON' : 'YAML';
  const document = readDocument(text, language, problems);
  const readIt = async () => (document === null ? EMPTY : await readRoot(document, file, problems));
  const read = await problems.untilEnough(readIt, EMPTY);
  problems.throwIfAny(file, read.pemFiles);
  const fingerprint = await fingerprintOf(read);
  if (fingerprint !== null) return { ...read, fingerprint };
  const limit = `${MAX_SET_CHARS / 1024 / 1024} million characters`;
  const message = `with their defaults and aliases written out come to more than ${limit}`;
  problems.add('checks', '', message, () => document?.locateKey(['checks']) ?? TOP);
  throw problems.toError(file, read.pemFiles);
}

/**
 * Does the same for plain JSON without problems, in a fraction of the time. Only JSON.parse blocks
 * the event loop.
 *
 * @returns null for any other text: `parseCheckFile` parses it, or reports its problems
 */
export async function parsePlainCheckFile(text: string, file: string): Promise<CheckFile | null> {
  const plain = readPlainJson(text);
  // Defaults may expand to more than MAX_SET_CHARS, which is reported with its position.
  if (plain === null || !isMapping(plain.value) || plain.value.defaults !== undefined) return null;
  // One problem is enough: then `parseCheckFile` reports them all.
  const problems = new ProblemList(1);
  const nowhere: SourceDocument = { ...plain, locate: () => TOP, locateKey: () => TOP };
  const read = await problems.untilEnough(() => readRoot(nowhere, file, problems), EMPTY);
  return problems.isEmpty ? { ...read, fingerprint: null } : null;
}

async function readRoot(
  document: SourceDocument,
  file: string,
  problems: ProblemList,
): Promise<Content> {
  const report = createProblemReporter(document, problems);
  const root = document.value;
  if (!isMapping(root)) {
    const what = root === null ? 'the file is empty; it' : 'the file';
    report.value([], '', `${what} must be a mapping with a list of checks under the key checks`);
    return EMPTY;
  }
  // Editors find the schema of a JSON file by this key.
  const { $schema: _, ...keys } = root;
  reportUnknown(keys, [], TOP_KEYS, report);
  const name = readName(root, report);
  const known = readKnownIds(root);
  const references = new Map<string, CheckReferences>();
  const named = { known, references };
  const checks = await readChecks(root, readDefaults(root, report), report, named);
  const resources = readResources(root, references, { report, known });
  const variables = readVariables(root.variables, report);
  const pemFiles = new Set<string>();
  const clientCertificates = await readCertificates(root, { report, checkFile: file, pemFiles });
  return { name, checks, variables, clientCertificates, resources, pemFiles: [...pemFiles] };
}

function readName({ name = null }: RawMapping, report: ProblemReporter): string | null {
  if (name === null || (typeof name === 'string' && CHECK_ID.test(name))) return name;
  const what = `must be 1 to 100 letters, digits, dots, dashes and underscores that start with a letter or digit`;
  report.value(['name'], '', what + shownValue(name, ['name']));
  return null;
}

function readDefaults(root: RawMapping, report: ProblemReporter): RawMapping {
  const defaults = root.defaults ?? NO_DEFAULTS;
  if (!isMapping(defaults)) {
    report.value(['defaults'], '', `must be a mapping of check fields${shownValue(defaults, [])}`);
    return {};
  }
  reportUnknown(defaults, ['defaults'], knownDefaults([]), report);
  for (const [key, value] of Object.entries(defaults)) {
    const known = isMapping(value) ? knownDefaults([key]) : [];
    if (isMapping(value) && known.length > 0) {
      reportUnknown(value, ['defaults', key], known, report);
    }
  }
  return defaults;
}

function reportUnknown(
  mapping: RawMapping,
  path: DocumentPath,
  known: readonly string[],
  report: ProblemReporter,
): void {
  for (const key of Object.keys(mapping)) {
    if (!known.includes(key)) report.key([...path, key], '', unknownKeyText(key, known));
  }
}

async function readChecks(
  root: RawMapping,
  defaults: RawMapping,
  report: ProblemReporter,
  named: { readonly known: KnownIds; readonly references: Map<string, CheckReferences> },
): Promise<readonly Check[]> {
  const entries = root.checks;
  const isEmpty = entries === undefined || (Array.isArray(entries) && entries.length === 0);
  if (isEmpty && SECTIONS.some((section) => hasEntries(root[section]))) return [];
  if (!Array.isArray(entries) || entries.length === 0) {
    const missing = entries === undefined ? 'is missing; it must' : 'must';
    report.value(['checks'], '', `${missing} be a list of one check or more`);
    return [];
  }
  if (entries.length > MAX_CHECKS) {
    report.value(['checks'], '', `must have at most ${MAX_CHECKS} entries, not ${entries.length}`);
    return [];
  }
  const context = {
    ...named,
    report,
    defaults,
    ids: new Map<string, number>(),
    alike: new SimilarCheckParser(),
  };
  const checks: Check[] = [];
  for (const [index, raw] of entries.entries()) {
    const check = readCheck(raw, index, context);
    if (check !== null) checks.push(check);
    if (index % CHECKS_PER_YIELD === CHECKS_PER_YIELD - 1) await yieldToEventLoop();
  }
  reportCycle(checks, context);
  return checks;
}

/** Reports the first cycle of dependencies; the next one is reported once this one is mended. */
function reportCycle(
  checks: readonly Check[],
  { ids, report }: { readonly ids: ReadonlyMap<string, number>; readonly report: ProblemReporter },
): void {
  const [first, ...others] = cycleIn(checks);
  if (first === undefined) return;
  const path = ['checks', ids.get(first) ?? 0, 'dependsOn'];
  const text =
    others.length === 0
      ? 'must not name the check itself'
      : `must not lead back to the check itself: ${[first, ...others, first].join(' depends on ')}`;
  report.value(path, ` of check ${JSON.stringify(first)}`, text);
}

function hasEntries(section: unknown): boolean {
  return Array.isArray(section) && section.length > 0;
}

async function readCertificates(
  root: RawMapping,
  context: { report: ProblemReporter; checkFile: string; pemFiles: Set<string> },
): Promise<readonly ClientCertificate[]> {
  const entries = root.clientCertificates ?? [];
  const path = ['clientCertificates'];
  if (!Array.isArray(entries) || entries.length > MAX_CLIENT_CERTIFICATES) {
    const what = `must be a list of at most ${MAX_CLIENT_CERTIFICATES} client certificates`;
    context.report.value(path, '', what);
    return [];
  }
  const read: ClientCertificate[] = [];
  for (const [index, raw] of entries.entries()) {
    const certificate = await readClientCertificate(raw, index, context);
    if (certificate !== null) read.push(certificate);
  }
  return read;
}
