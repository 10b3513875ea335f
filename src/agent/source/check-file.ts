import { extname } from 'node:path';
import type { Check } from '../../model/check.ts';
import type { ClientCertificate } from '../../model/client-certificate.ts';
import { isMapping, knownDefaults, type RawMapping } from './check-defaults.ts';
import { readCheck } from './check-entry.ts';
import type { CheckSet } from './check-source.ts';
import { readClientCertificate } from './client-certificate-entry.ts';
import { readDocument, type SourceDocument } from './document.ts';
import { type DocumentPath, ProblemList, TOP } from './file-problem.ts';
import { fingerprintOf, MAX_SET_CHARS } from './fingerprint.ts';
import { createReporter, type Reporter } from './reporter.ts';
import { shownValue, unknownKeyText } from './schema-issue.ts';
import { readVariables } from './variable-entries.ts';

const MAX_CHECKS = 100_000;
const MAX_CLIENT_CERTIFICATES = 1000;
const EMPTY: Content = { checks: [], variables: [], clientCertificates: [], pemFiles: [] };
const TOP_KEYS = ['checks', 'defaults', 'variables', 'clientCertificates'] as const;

/** What a check file holds. */
export interface CheckFile extends Pick<CheckSet, 'checks' | 'variables' | 'clientCertificates'> {
  /** Absolute paths of the PEM files that it names. */
  readonly pemFiles: readonly string[];
  /** The same for the same checks, variables and certificates, however the file writes them. */
  readonly fingerprint: string;
}
type Content = Omit<CheckFile, 'fingerprint'>;

/**
 * Reads the text of a check file (YAML or JSON; SEMANTICS 1), and the PEM files that it names.
 *
 * @param file where the text is from: for messages, and as the base of relative paths
 * @throws FileProblemsError with every problem, up to its bound
 */
export async function parseCheckFile(text: string, file: string): Promise<CheckFile> {
  const problems = new ProblemList();
  const language = extname(file).toLowerCase() === '.json' ? 'JSON' : 'YAML';
  const document = readDocument(text, language, problems);
  const read = document === null ? EMPTY : await readRoot(document, file, problems);
  problems.throwIfAny(file, read.pemFiles);
  const fingerprint = fingerprintOf(read);
  if (fingerprint !== null) return { ...read, fingerprint };
  const limit = `${MAX_SET_CHARS / 1024 / 1024} million characters`;
  const message = `with their defaults and aliases written out come to more than ${limit}`;
  problems.add('checks', '', message, () => document?.locateKey(['checks']) ?? TOP);
  throw problems.toError(file, read.pemFiles);
}

async function readRoot(
  document: SourceDocument,
  file: string,
  problems: ProblemList,
): Promise<Content> {
  const report = createReporter(document, problems);
  const root = document.value;
  if (!isMapping(root)) {
    const what = root === null ? 'the file is empty; it' : 'the file';
    report.value([], '', `${what} must be a mapping with a list of checks under the key checks`);
    return EMPTY;
  }
  reportUnknown(root, [], TOP_KEYS, report);
  const checks = readChecks(root, readDefaults(root, report), report);
  const variables = readVariables(root.variables, report);
  const pemFiles = new Set<string>();
  const clientCertificates = await readCertificates(root, { report, checkFile: file, pemFiles });
  return { checks, variables, clientCertificates, pemFiles: [...pemFiles] };
}

function readDefaults(root: RawMapping, report: Reporter): RawMapping {
  const defaults = root.defaults ?? {};
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
  report: Reporter,
): void {
  for (const key of Object.keys(mapping)) {
    if (!known.includes(key)) report.key([...path, key], '', unknownKeyText(key, known));
  }
}

function readChecks(root: RawMapping, defaults: RawMapping, report: Reporter): readonly Check[] {
  const entries = root.checks;
  if (!Array.isArray(entries) || entries.length === 0) {
    const missing = entries === undefined ? 'is missing; it must' : 'must';
    report.value(['checks'], '', `${missing} be a list of one check or more`);
    return [];
  }
  if (entries.length > MAX_CHECKS) {
    report.value(['checks'], '', `must have at most ${MAX_CHECKS} entries, not ${entries.length}`);
    return [];
  }
  const context = { report, defaults, ids: new Map<string, number>() };
  return entries.flatMap((raw: unknown, index) => readCheck(raw, index, context) ?? []);
}

async function readCertificates(
  root: RawMapping,
  context: { report: Reporter; checkFile: string; pemFiles: Set<string> },
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
