import { z } from 'zod';
import { ALERT_CHANNEL_TYPES } from '../../../../model/alerting/alert-channel.ts';
import { subscriptionSchema } from '../../../../model/check/check.ts';
import {
  type CheckReferences,
  ENTRY_NOUNS,
  entrySchemaOf,
  type FileEntry,
  type FileResources,
  NO_RESOURCES,
  replacedFields,
  SECTIONS,
  type Section,
} from '../../../../model/check-file/sections.ts';
import { CHECK_ID } from '../../../../model/ids.ts';
import {
  maintenanceWindowSchema,
  windowProblems,
  windowTimesOf,
} from '../../../../model/schedule/maintenance-window.ts';
import {
  serviceProblems,
  statusPageServiceSchema,
} from '../../../../model/status-page/status-page.ts';
import { nearestName } from '../../../../runtime/text/nearest-name.ts';
import type { DocumentPath } from '../../common/file-problem.ts';
import { isMapping, type RawMapping } from '../../common/raw-mapping.ts';
import { keysAt } from '../../common/schema-info.ts';
import type { ProblemReporter } from '../problem-reporter.ts';
import { withRuleIssues } from '../rule-issues.ts';
import { issueText, shownValue, unknownKeyText, valueAt } from '../schema-issue.ts';
import { readEscalation } from './escalation.ts';
import {
  type KnownIds,
  namedBy,
  referencesOf,
  unknownReference,
  withoutReferences,
} from './references.ts';

/** Maximum number of entries of a section. */
const MAX_ENTRIES = 10_000;

export interface ResourceContext {
  readonly report: ProblemReporter;
  readonly known: KnownIds;
}

/**
 * The ids of the sections and the checks, before their entries are read; invalid ones are left out.
 */
export function readKnownIds(root: RawMapping): KnownIds {
  const idsOf = (section: string): ReadonlySet<string> => {
    const entries = root[section];
    if (!Array.isArray(entries)) return new Set();
    const ids = entries.map((entry: unknown) => (isMapping(entry) ? entry.id : null));
    return new Set(ids.filter((id) => typeof id === 'string'));
  };
  return {
    checks: idsOf('checks'),
    alertChannels: idsOf('alertChannels'),
    groups: idsOf('groups'),
    heartbeats: idsOf('heartbeats'),
    statusServices: idsOf('statusServices'),
    statusPages: idsOf('statusPages'),
    maintenanceWindows: idsOf('maintenanceWindows'),
  };
}

/**
 * The sections besides the checks; entries with a problem are left out.
 *
 * @param references of the checks
 */
export function readResources(
  root: RawMapping,
  references: ReadonlyMap<string, CheckReferences>,
  context: ResourceContext,
): FileResources {
  const sections = SECTIONS.map((section) => [section, readSection(root, section, context)]);
  const isEmpty = sections.every(([, entries]) => entries?.length === 0) && references.size === 0;
  const escalationStep = readEscalation(root, context);
  // The type of Object.fromEntries lacks the keys.
  const resources = isEmpty
    ? NO_RESOURCES
    : { sections: Object.fromEntries(sections) as FileResources['sections'], references };
  return escalationStep === undefined ? resources : { ...resources, escalationStep };
}

function readSection(
  root: RawMapping,
  section: Section,
  context: ResourceContext,
): readonly FileEntry[] {
  const entries = root[section] ?? [];
  if (!Array.isArray(entries) || entries.length > MAX_ENTRIES) {
    const what = `must be a list of at most ${MAX_ENTRIES} entries`;
    context.report.value([section], '', what);
    return [];
  }
  const seen = new Map<string, string>();
  return entries.flatMap((raw: unknown, index) => {
    const entry = readEntry(section, raw, index, { ...context, seen });
    return entry === null ? [] : [entry];
  });
}

type EntryContext = ResourceContext & {
  /** The paths of the entries of this section by their ids. */
  readonly seen: Map<string, string>;
};

function readEntry(
  section: Section,
  raw: unknown,
  index: number,
  { report, known, seen }: EntryContext,
): FileEntry | null {
  const entryPath = [section, index];
  const noun = ENTRY_NOUNS[section];
  if (!isMapping(raw)) {
    report.value(entryPath, '', `must be a mapping with an id${shownValue(raw, entryPath)}`);
    return null;
  }
  const taken = section === 'heartbeats' ? known.checks : new Set<string>();
  const id = readEntryId(raw.id, [...entryPath, 'id'], { section, report, seen, taken });
  const of = id === null ? '' : ` of ${noun} ${JSON.stringify(id)}`;
  const schema = entrySchemaOf(section, raw.type);
  if (schema === null) {
    report.value([...entryPath, 'type'], of, channelTypeText(raw.type));
    return null;
  }
  const { id: _, ...own } = raw;
  const replaced = replacedFields(section);
  const misplaced = Object.keys(own).filter((key) => replaced.has(key));
  for (const key of misplaced) report.key([...entryPath, key], of, replaced.get(key) ?? '');
  const given = Object.fromEntries(Object.entries(own).filter(([key]) => !replaced.has(key)));
  // The id is the default of the name, as with checks.
  const whole = 'name' in schema.shape ? { name: id ?? 'unnamed', ...given } : given;
  const separated = section === 'heartbeats' ? withoutReferences(whole) : null;
  const body = separated?.body ?? whole;
  const value = (path: DocumentPath, message: string): void =>
    report.value([...entryPath, ...path], of, message);

  const parsed = schema.safeParse(body);
  const issues = parsed.success ? [] : withRuleIssues(schema, body, parsed.error.issues);
  for (const issue of issues) {
    reportIssue(issue, { schema, body, replaced }, value, (path, message) =>
      report.key([...entryPath, ...path], of, message),
    );
  }
  const invalid = issues.filter(({ code }) => code !== 'unrecognized_keys');
  const named = separated?.named ?? namedBy(section, body);
  const unknown = named.flatMap((one) => {
    if (invalid.some(({ path }) => startsWith(one.path, path))) return [];
    const message = unknownReference(one, known);
    return message === null ? [] : [{ path: one.path, message }];
  });
  for (const { path, message } of unknown) value(path, message);
  const conflicts = conflictsIn(section, body);
  for (const { field, message } of conflicts) value([field], message);
  if (!parsed.success) return null;
  const isSound = misplaced.length + unknown.length + conflicts.length === 0;
  if (!isSound || id === null) return null;
  const { logicalId: __, subscriptions: ___, ...fields } = parsed.data;
  if (separated === null) return { id, fields };
  const { alertChannelSubscriptions, ...others } = fields;
  if (!Object.hasOwn(body, 'alertChannelSubscriptions')) {
    return { id, fields: { ...others, ...referencesOf(null, named) } };
  }
  const subscriptions = z.array(subscriptionSchema).parse(alertChannelSubscriptions);
  return { id, fields: { ...fields, ...referencesOf(subscriptions, named) } };
}

function readEntryId(
  id: unknown,
  path: DocumentPath,
  {
    section,
    report,
    seen,
    taken,
  }: Pick<EntryContext, 'report' | 'seen'> & {
    readonly section: Section;
    readonly taken: ReadonlySet<string>;
  },
): string | null {
  if (typeof id !== 'string' || !CHECK_ID.test(id)) {
    const missing = id === undefined ? 'is missing; it must' : 'must';
    const quotes = typeof id === 'number' ? `; put it in quotes: "${id}"` : '';
    const what =
      'be 1 to 100 letters, digits, dots, dashes and underscores that start with a letter or digit';
    report.value(path, '', `${missing} ${what}${shownValue(id, path)}${quotes}`);
    return null;
  }
  const of = ` of ${ENTRY_NOUNS[section]} ${JSON.stringify(id)}`;
  const at = `${path[0]}[${path[1]}]`;
  const other = seen.get(id) ?? (taken.has(id) ? 'a check' : null);
  if (other !== null) {
    report.value(path, of, `must be unique: ${other} has the id ${JSON.stringify(id)} too`);
    return null;
  }
  seen.set(id, at);
  return id;
}

function channelTypeText(type: unknown): string {
  const missing = type === undefined ? 'is missing; it must' : 'must';
  const nearest = typeof type === 'string' ? nearestName(type, ALERT_CHANNEL_TYPES) : null;
  const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
  return `${missing} be one of ${ALERT_CHANNEL_TYPES.join(', ')}${shownValue(type, ['type'])}${hint}`;
}

type Report = (path: DocumentPath, message: string) => void;

function reportIssue(
  issue: z.core.$ZodIssue,
  {
    schema,
    body,
    replaced,
  }: {
    readonly schema: z.ZodObject;
    readonly body: RawMapping;
    readonly replaced: ReadonlyMap<string, string>;
  },
  value: Report,
  key: Report,
): void {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  if (issue.code !== 'unrecognized_keys') {
    value(path, issueText(issue, schema, valueAt(body, path)));
    return;
  }
  const fields = keysAt(schema, path).filter((name) => path.length > 0 || !replaced.has(name));
  const known = path.length === 0 ? ['id', ...fields] : fields;
  for (const name of issue.keys) key([...path, name], unknownKeyText(name, known));
}

const SERVICE_RULE = statusPageServiceSchema.pick({ failureRule: true, failureLocations: true });
const WINDOW_TIMES = maintenanceWindowSchema.pick({
  startsAt: true,
  endsAt: true,
  repeatEndsAt: true,
});

/** Problems between fields that are valid by themselves, even if other fields are not. */
function conflictsIn(section: Section, body: RawMapping): ReturnType<typeof windowProblems> {
  if (section === 'statusServices') {
    const rule = SERVICE_RULE.safeParse(fieldsOf(SERVICE_RULE, body));
    return rule.success ? serviceProblems(rule.data) : [];
  }
  if (section !== 'maintenanceWindows') return [];
  const times = WINDOW_TIMES.safeParse(fieldsOf(WINDOW_TIMES, body));
  return times.success ? windowProblems(windowTimesOf(times.data)) : [];
}

/** The fields of the body that the schema has. */
function fieldsOf({ shape }: z.ZodObject, body: RawMapping): RawMapping {
  return Object.fromEntries(Object.entries(body).filter(([key]) => Object.hasOwn(shape, key)));
}

function startsWith(path: DocumentPath, start: readonly PropertyKey[]): boolean {
  return start.every((step, index) => path[index] === step);
}
