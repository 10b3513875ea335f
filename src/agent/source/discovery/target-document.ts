import { z } from 'zod';
import { messageOf } from '../../../runtime/errors.ts';
import { loadSequentially } from '../../../runtime/load-sequentially.ts';
import { ProblemList } from '../common/file-problem.ts';

/** Targets with the labels of all of them. */
export interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** The targets of a document. */
export interface DocumentTargets {
  /** For messages: a path or a URL. */
  readonly name: string;
  readonly groups: readonly TargetGroup[];
}

/** YAML has numbers and booleans without quotes. */
const label = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** A document of file_sd or http_sd: https://prometheus.io/docs/prometheus/latest/http_sd/. */
const documentSchema = z.array(
  z.object({
    targets: z.array(z.string().min(1).max(2048)),
    labels: z.record(z.string(), label).default({}),
  }),
);

/** Maximum length of all documents of a rule together. */
export const MAX_CHARS = 2 * 1024 * 1024;
/** YAML takes about 10 ms per kilobyte. */
const MAX_YAML_CHARS = 64 * 1024;

export interface TargetText {
  readonly language: 'JSON' | 'YAML';
  readonly text: string;
}

/** The groups of a document, or what is wrong with it, which continues a sentence about it. */
export type TargetsRead = readonly TargetGroup[] | string;

/** One after the other: their number is not bounded. */
export async function readTargetDocuments(
  texts: readonly TargetText[],
): Promise<readonly TargetsRead[]> {
  const read: TargetsRead[] = [];
  for (const text of texts) read.push(await readTargetDocument(text));
  return read;
}

async function readTargetDocument({ text, language }: TargetText): Promise<TargetsRead> {
  const maxChars = language === 'JSON' ? MAX_CHARS : MAX_YAML_CHARS;
  if (text.length > maxChars)
    return `has more than ${maxChars} characters, the most as ${language}`;
  const value = language === 'JSON' ? jsonOf(text) : await yamlOf(text);
  if (!value.ok) return value.problem;
  // A file that is just being written may be empty, too.
  if (value.value === null) return 'is empty; a document without targets is []';
  const parsed = documentSchema.safeParse(value.value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const at = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`;
  return `is not a list of {targets, labels}${at}: ${issue?.message}`;
}

type Read =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

function jsonOf(text: string): Read {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (thrown) {
    return { ok: false, problem: `is not JSON: ${messageOf(thrown).replaceAll(/\s+/g, ' ')}` };
  }
}

async function yamlOf(text: string): Promise<Read> {
  // Imported on demand, as loading takes long.
  loadSequentially(import.meta.url, '../file/document/document.js');
  const { readDocument } = await import('../file/document/document.ts');
  const document = readDocument(text, 'YAML', new ProblemList());
  if (document === null) return { ok: false, problem: 'is not YAML' };
  return { ok: true, value: document.value };
}
