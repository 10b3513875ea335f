import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ENVIRONMENT } from '../../src/agent/config/agent-config.ts';
import { AGENT_METRICS } from '../../src/agent/metrics/metrics-table.ts';
import { alertSettingsSchema } from '../../src/model/alerting/alert-settings.ts';
import {
  MONITORING_PROBLEMS,
  PROBLEM_RULES,
} from '../../src/model/alerting/monitoring-problems.ts';
import {
  SERVICE_CHANNEL_TYPES,
  SERVICE_CHANNELS,
} from '../../src/model/alerting/service-channels.ts';
import { ASSERTION_SOURCES } from '../../src/model/check/assertions/assertion.ts';
import { CHECK_SHAPES, commonFields } from '../../src/model/check/check.ts';
import { retryStrategySchema } from '../../src/model/check/retry.ts';
import {
  entrySchemaOf,
  replacedFields,
  type Section,
} from '../../src/model/check-file/sections.ts';
import { ERROR_CODES, type ErrorCode, isOwnFault } from '../../src/model/result/error-codes.ts';
import { MISSED_REASONS } from '../../src/model/result/missed-slots.ts';
import { wholeUnitText } from '../../src/runtime/text/duration-text.ts';
import { NOTICE_VARIABLES } from '../../src/service/alerts/senders/notice-variables.ts';
import { SERVICE_ENVIRONMENT } from '../../src/service/config.ts';
import { ALERT_RULES, alertRules, alertsTable, TARGET_RULES } from './compose/prometheus-files.ts';
import { type ChannelField, channelFieldsOf } from './openapi/channel-fields.ts';

/** The part of JSON Schema that zod generates for our fields. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

const MAX_LISTED = 16;

/** Fields whose default in the schema is not what happens if they are omitted. Their description says that. */
const WITHOUT_SHOWN_DEFAULT: readonly string[] = ['alertChannelSubscriptions'];

const LAST_TIMES = join(import.meta.dirname, '../../.ci/last-times.json');

/** How long each part of CI took when its times were last recorded. */
function ciTimesTable(): string {
  const seconds: Readonly<Record<string, number>> = JSON.parse(readFileSync(LAST_TIMES, 'utf8'));
  return table(
    ['Part', 'Seconds'],
    Object.entries(seconds).map(([name, one]) => [name, String(one)]),
  );
}

/** The README's tables by the name in their markers, each generated from the code's data. */
export function readmeTables(): Readonly<Record<string, string>> {
  return {
    'common-fields': fieldTable(z.strictObject(commonFields), () => true),
    'alert-settings': fieldTable(alertSettingsSchema, () => true),
    thresholds: thresholdTable(),
    'url-request': requestTable('URL'),
    'api-request': requestTable('API'),
    'tcp-request': requestTable('TCP'),
    'dns-request': requestTable('DNS'),
    'icmp-request': requestTable('ICMP'),
    'retry-strategy': fieldTable(retryStrategySchema, () => true),
    'alert-channels': entryTable('alertChannels', 'EMAIL'),
    groups: entryTable('groups'),
    heartbeats: entryTable('heartbeats'),
    'status-services': entryTable('statusServices'),
    'status-pages': entryTable('statusPages'),
    'maintenance-windows': entryTable('maintenanceWindows'),
    'assertion-sources': table(
      ['Check type', 'Sources'],
      Object.entries(ASSERTION_SOURCES).map(([type, sources]) => [
        type,
        sources.map(code).join(', '),
      ]),
    ),
    'error-codes': table(
      ['Code', 'Phase', 'Meaning', 'What to try'],
      Object.entries(ERROR_CODES).map(([name, { phase, meaning, advice }]) => [
        code(name),
        phase,
        meaning,
        advice,
      ]),
    ),
    'metric-error-codes': table(['Phase', '`code`'], metricCodesByPhase()),
    'missed-reasons': table(
      ['Reason', 'Meaning'],
      Object.entries(MISSED_REASONS).map(([reason, meaning]) => [code(reason), meaning]),
    ),
    environment: table(
      ['Variable', 'Default', 'Meaning', 'Allowed'],
      ENVIRONMENT.map((row) => [code(row.name), row.default ?? '–', row.meaning, row.allowed]),
    ),
    'service-environment': table(
      ['Variable', 'Default', 'Meaning', 'Allowed'],
      SERVICE_ENVIRONMENT.map((row) => [
        code(row.name),
        row.default ?? '–',
        row.meaning,
        row.allowed,
      ]),
    ),
    'ci-times': ciTimesTable(),
    'notice-variables': table(
      ['Variable', 'Value'],
      NOTICE_VARIABLES.map(({ name, meaning }) => [code(name), meaning]),
    ),
    'monitoring-problems': table(
      ['`alertType`', 'Severity', 'Begins', 'Ends'],
      MONITORING_PROBLEMS.map((kind) => {
        const { severity, begins, beginsAfterMs, ends, endsAfterMs } = PROBLEM_RULES[kind];
        return [code(kind), severity, lasting(begins, beginsAfterMs), lasting(ends, endsAfterMs)];
      }),
    ),
    'service-channels': table(
      ['`type`', 'Fields of `config`', 'Where to find them', 'A sample', 'At a recovery'],
      SERVICE_CHANNEL_TYPES.map((type) => {
        const { setup, closes, sample } = SERVICE_CHANNELS[type];
        return [
          code(type),
          channelFieldsOf(type).map(channelFieldText).join(', '),
          setup,
          code(JSON.stringify(sample)),
          closes ? 'closes what the alert opened' : 'another message',
        ];
      }),
    ),
    alerts: alertsTable(alertRules([ALERT_RULES])),
    'target-alerts': alertsTable(alertRules([TARGET_RULES])),
    metrics: table(
      ['Metric', 'Type', 'Labels', 'Meaning'],
      AGENT_METRICS.map((row) => [
        code(row.name),
        row.type,
        row.labels.join(', ') || '–',
        row.meaning,
      ]),
    ),
  };
}

/** The codes of runs that metrics of checks count: neither cancelled, nor ended by a fault of the agent. */
function metricCodesByPhase(): string[][] {
  const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).filter(
    (name) => !isOwnFault(name) && name !== 'CANCELLED',
  );
  const phases = [...new Set(codes.map((name) => ERROR_CODES[name].phase))];
  return phases.map((phase) => {
    const ofPhase = codes.filter((name) => ERROR_CODES[name].phase === phase);
    return [phase, ofPhase.map(code).join(', ')];
  });
}

function lasting(what: string, afterMs: number): string {
  return afterMs === 0 ? what : `${what} This lasts at least ${wholeUnitText(afterMs)}.`;
}

function channelFieldText(field: ChannelField): string {
  const { name, isSecret = false, isNullable = false, default: standard } = field;
  const notes = [
    ...(isSecret ? ['secret'] : []),
    ...(isNullable ? ['optional'] : []),
    ...(standard === undefined ? [] : [`default: ${String(standard)}`]),
  ];
  return notes.length === 0 ? code(name) : `${code(name)} (${notes.join(', ')})`;
}

function requestTable(type: keyof typeof CHECK_SHAPES): string {
  return fieldTable(CHECK_SHAPES[type].shape.request, () => true);
}

/** The fields of each type besides the common fields and its request. */
/** The fields of an entry of a check file. */
function entryTable(section: Section, type?: string): string {
  const schema = entrySchemaOf(section, type);
  if (schema === null) throw new Error(`${section} has no entries of the type ${type}`);
  const replaced = replacedFields(section);
  // The text beside the table explains the other two.
  const isShown = (field: string) => !replaced.has(field) && !['type', 'config'].includes(field);
  return fieldTable(schema, isShown);
}

function thresholdTable(): string {
  const rows = Object.entries(CHECK_SHAPES).flatMap(([type, shape]) =>
    fieldRows(shape, (name) => name.includes('Threshold') || name.includes('ResponseTime')).map(
      (row) => [type, ...row],
    ),
  );
  return table(['Check type', ...FIELD_HEAD], rows);
}

const FIELD_HEAD = ['Field', 'Value', 'Default', 'Meaning'];

function fieldTable(schema: z.ZodType, wanted: (name: string) => boolean): string {
  return table(FIELD_HEAD, fieldRows(schema, wanted));
}

function fieldRows(schema: z.ZodType, wanted: (name: string) => boolean): string[][] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' }) as Schema;
  return Object.entries(properties)
    .filter(([name]) => wanted(name))
    .map(([name, field]) => {
      if (field.description === undefined) throw new Error(`field ${name} has no description`);
      const shown = WITHOUT_SHOWN_DEFAULT.includes(name) ? '–' : defaultOf(field);
      const standard = required.includes(name) ? 'needed' : shown;
      return [code(name), kindOf(field), standard, field.description];
    });
}

function defaultOf({ default: value }: Schema): string {
  if (value === undefined) return '–';
  return value === '' ? 'empty' : code(JSON.stringify(value));
}

function kindOf(field: Schema): string {
  if (field.anyOf !== undefined) return field.anyOf.map(kindOf).join(' or ');
  if (Array.isArray(field.type)) return field.type.join(' or ');
  if (field.const !== undefined) return code(String(field.const));
  if (field.enum !== undefined) {
    const shown = field.enum.slice(0, MAX_LISTED).map((value) => code(String(value)));
    return shown.join(', ') + (field.enum.length > MAX_LISTED ? ', …' : '');
  }
  if (field.type === 'array') return `list of ${plural(kindOf(field.items ?? {}))}`;
  if (field.type === 'string') return withLimits('text', field.minLength, field.maxLength);
  if (field.type === 'integer' || field.type === 'number') {
    const noun = field.type === 'integer' ? 'whole number' : 'number';
    // zod gives an integer without a limit that of the number type.
    const max = field.maximum === Number.MAX_SAFE_INTEGER ? undefined : field.maximum;
    return withLimits(noun, field.minimum, max);
  }
  return String(field.type ?? 'any');
}

function plural(noun: string): string {
  return noun === 'object' ? 'objects' : noun;
}

function withLimits(noun: string, min: number | undefined, max: number | undefined): string {
  const low = min === 0 && noun === 'text' ? undefined : min;
  if (low === undefined && max === undefined) return noun;
  if (max === undefined) return `${noun}, ${low} or more`;
  return low === undefined ? `${noun}, up to ${max}` : `${noun}, ${low}..${max}`;
}

const code = (text: string): string => `\`${text}\``;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
