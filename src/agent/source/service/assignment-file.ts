import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { pauseSchema } from '../../../model/schedule/pause.ts';
import { replaceFile } from '../../../runtime/files/replace-file.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import {
  type Assignment,
  assignmentEnvelope,
  assignmentMessageOf,
  readAssignment,
} from '../../../wire/v1/assignment.ts';
import { count, locationName } from '../../../wire/v1/fields.ts';
import {
  clientCertificateMessageSchema,
  type LocationSettings,
  variableSchema,
} from '../../../wire/v1/poll.ts';
import type { CheckSet } from '../check-source.ts';
import { damaged, seal, unseal } from './sealed-lines.ts';

const MAX_FILE_BYTES = 384 * 1024 * 1024;

/** The settings for all checks of the location. */
export interface SavedSettings extends LocationSettings, Pick<CheckSet, 'variables' | 'proxyUrl'> {
  readonly unreadableVariables: readonly string[];
}

export interface SavedAssignments {
  readonly location: string;
  readonly settings: SavedSettings;
  readonly assignments: readonly Assignment[];
}

export interface ReadAssignments extends SavedAssignments {
  /** Checks that this release cannot read, which are dropped. */
  readonly unreadable: number;
}

/** The first line, with the number of the other lines, to notice a truncated file. */
const headSchema = z.object({
  location: locationName,
  proxyUrl: z.string().nullable(),
  /** Older releases do not write it. */
  unreadableVariables: z.array(z.string()).default([]),
  lines: count,
});

/** One per line: all variables or certificates in one line could have many megabytes. */
const lineSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('certificate'),
    value: clientCertificateMessageSchema,
  }),
  z.object({ kind: z.literal('pause'), value: pauseSchema }),
  z.object({ kind: z.literal('variable'), value: variableSchema }),
  z.object({ kind: z.literal('check'), value: z.unknown() }),
]);
type Line = z.input<typeof lineSchema>;

/** Replaces the file's content. Throws the system's error. */
export async function writeAssignments(
  file: string,
  saved: SavedAssignments,
  box: SecretBox,
): Promise<void> {
  await replaceFile(file, seal(linesOf(saved), box), { durable: true });
}

function* linesOf({ location, settings, assignments }: SavedAssignments): Generator<string> {
  const { clientCertificates, pauses, variables, unreadableVariables, proxyUrl } = settings;
  const lines = clientCertificates.length + pauses.length + variables.length + assignments.length;
  const text = (line: Line): string => JSON.stringify(line);
  const head = { location, proxyUrl, unreadableVariables: [...unreadableVariables], lines };
  yield JSON.stringify(head satisfies z.input<typeof headSchema>);
  for (const value of clientCertificates) yield text({ kind: 'certificate', value });
  for (const value of pauses) yield text({ kind: 'pause', value });
  for (const value of variables) yield text({ kind: 'variable', value });
  for (const one of assignments) yield text({ kind: 'check', value: assignmentMessageOf(one) });
}

/** Throws the errors of `unseal`, and ASSIGNMENTS_DAMAGED if the file is truncated. */
export async function readAssignments(file: string, box: SecretBox): Promise<ReadAssignments> {
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw damaged(`it is longer than ${MAX_FILE_BYTES} bytes`);
  let head: z.output<typeof headSchema> | null = null;
  let lines = 0;
  let unreadable = 0;
  const assignments: Assignment[] = [];
  const clientCertificates: SavedSettings['clientCertificates'] = [];
  const pauses: SavedSettings['pauses'] = [];
  const variables: z.output<typeof variableSchema>[] = [];
  for await (const text of unseal(file, box)) {
    if (head === null) {
      head = parsed(headSchema, text);
      continue;
    }
    lines += 1;
    const line = parsed(lineSchema, text);
    switch (line.kind) {
      case 'certificate':
        clientCertificates.push(line.value);
        break;
      case 'pause':
        pauses.push(line.value);
        break;
      case 'variable':
        variables.push(line.value);
        break;
      case 'check': {
        const assignment = assignmentIn(line.value);
        if (assignment === null) unreadable += 1;
        else assignments.push(assignment);
      }
    }
  }
  if (head === null || lines !== head.lines) throw damaged('its end is missing');
  const { location, proxyUrl, unreadableVariables } = head;
  const settings = { clientCertificates, pauses, variables, unreadableVariables, proxyUrl };
  return { location, settings, assignments, unreadable };
}

function assignmentIn(value: unknown): Assignment | null {
  const message = assignmentEnvelope.safeParse(value);
  const read = message.success ? readAssignment(message.data) : null;
  return read?.ok === true ? read.value : null;
}

function parsed<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> {
  const result = schema.safeParse(JSON.parse(text));
  if (!result.success) throw damaged('it is not of the form that this release writes');
  return result.data;
}
