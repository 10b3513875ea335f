import { z } from 'zod';
import { messageOf } from '../../../runtime/errors.ts';
import { loadSequentially } from '../../../runtime/load-sequentially.ts';
import { ProblemList } from '../common/file-problem.ts';

/** Targets with the labels of all of them. */
export interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** A document that was read. */
export interface TargetDocument {
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

/** Parsing more would delay checks. */
const MAX_JSON_CHARS = 2 * 1024 * 1024;
const MAX_YAML_CHARS = 64 * 1024;

/** The groups of a document in JSON or YAML, or what is wrong with it, which continues a sentence about it. */
export async function readTargetDocument(
  text: string,
  language: 'JSON' | 'YAML',
): Promise<readonly TargetGroup[] | string> {
  const maxChars = language === 'JSON' ? MAX_JSON_CHARS : MAX_YAML_CHARS;
  if (text.length > maxChars)
    return `has more than ${maxChars} characters, the most as ${language}`;
  const value = language === 'JSON' ? jsonOf(text) : await yamlOf(text);
  if (!value.ok) return value.problem;
  const parsed = documentSchema.safeParse(value.value ?? []);
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
