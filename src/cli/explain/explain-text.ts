import { countText } from '../../runtime/text/count-text.ts';
import type { Palette } from '../print/colour.ts';
import { cutToFit } from '../print/columns.ts';
import { type Cell, tableLines } from '../print/table.ts';
import { terminalSafe, terminalSafeJsonLine } from '../print/terminal-safe.ts';
import { ageText, whenText } from '../print/time-text.ts';
import type { ExplainedAgent } from './explained-agents.ts';
import type { NextSlot } from './next-slots.ts';
import type { CheckExplanation, ExplainedLocation } from './read-explanation.ts';
import type { Setting, SettingSource } from './settings.ts';

export interface ExplainStyle {
  readonly palette: Palette;
  /** Columns; no line is longer. */
  readonly width: number;
  readonly nowMs: number;
}

const MAX_NAME_CHARS = 100;
/** Widths of the columns for the field, its source, times and locations. */
const [FIELD_COLUMNS, SOURCE_COLUMNS, TIME_COLUMNS, SLUG_COLUMNS] = [27, 24, 32, 24];

/** Formats the settings, the next slots and the agents of each location for people. */
export function explainLines(
  explanation: CheckExplanation,
  style: ExplainStyle,
): readonly string[] {
  const { palette, width } = style;
  const { check, groupName, slots, locations, moreLocations } = explanation;
  const cut = (text: string): string => cutToFit(text, width);
  const part = (heading: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ['', palette.strong(cut(heading)), ...lines];
  const settings = explanation.settings.map((setting) => settingRow(setting, groupName, palette));
  const isRun = check.checkType !== 'HEARTBEAT';
  const more =
    moreLocations > 0 ? [cut(`and ${countText(moreLocations, 'more private location')}`)] : [];
  return [
    palette.strong(cut(headingText(check))),
    ...part(
      'Settings in effect, and where they come from',
      tableLines(settings, { width, maxColumns: [FIELD_COLUMNS, SOURCE_COLUMNS] }),
    ),
    ...part('Next slots', isRun ? slotLines(slots, style) : []),
    ...part('Where it runs', [
      ...tableLines(locations.flatMap(locationRows), {
        width,
        maxColumns: [SLUG_COLUMNS, SLUG_COLUMNS],
      }),
      ...more,
    ]),
  ];
}

/**
 * Formats the explanation for programs, as lines of fields separated by tabs: `setting` with its name, value and
 * source; `slot` with its time (ISO 8601), its locations and `paused` or nothing; `agent` with its location, the
 * state of the location, the id of the agent and why it does not run the check, or nothing.
 */
export function plainExplanation({
  settings,
  slots,
  locations,
}: CheckExplanation): readonly string[] {
  const rows: readonly (readonly string[])[] = [
    ...settings.map(({ name, text, source }) => ['setting', name, text, source]),
    ...slots.map(({ slotMs, locations: where, isPaused }) => {
      return ['slot', isoOf(slotMs), where.join(','), isPaused ? 'paused' : ''];
    }),
    ...locations.flatMap(({ slug, state, agents }) =>
      agents.length === 0
        ? [['agent', slug, state, '', '']]
        : agents.map(({ id, problem }) => ['agent', slug, state, id, problem ?? '']),
    ),
  ];
  return rows.map((fields) => fields.map((field) => terminalSafe(field)).join('\t'));
}

/** One object for each setting, slot and location. */
export function jsonExplanation({
  settings,
  slots,
  locations,
}: CheckExplanation): readonly string[] {
  const objects: readonly object[] = [
    ...settings.map(({ name, value, source }) => ({ setting: { name, value, source } })),
    ...slots.map(({ slotMs, locations: where, isPaused }) => ({
      slot: { at: isoOf(slotMs), locations: where, isPaused },
    })),
    ...locations.map((location) => ({ location })),
  ];
  return objects.map((each) => terminalSafeJsonLine(each).trimEnd());
}

function headingText({ id, name, checkType }: CheckExplanation['check']): string {
  const rest = name === id ? '' : ` (${terminalSafe(id, MAX_NAME_CHARS)})`;
  return `${terminalSafe(name, MAX_NAME_CHARS)}${rest}, ${terminalSafe(checkType)}`;
}

function settingRow(
  { name, text, source }: Setting,
  groupName: string | null,
  palette: Palette,
): readonly Cell[] {
  const from = sourceText(source, groupName);
  const cell = { text: `(${from})` };
  return [
    { text: name },
    source === 'default' ? { ...cell, paint: palette.faint } : cell,
    { text: terminalSafe(text) },
  ];
}

function sourceText(source: SettingSource, groupName: string | null): string {
  if (source === 'group' && groupName !== null) {
    return `group ${terminalSafe(groupName, MAX_NAME_CHARS)}`;
  }
  return source === 'account' ? 'account default' : source;
}

function slotLines(slots: readonly NextSlot[], style: ExplainStyle): readonly string[] {
  const { palette, width, nowMs } = style;
  if (slots.length === 0) {
    const why = 'none: it is not activated, or no private location runs it';
    return [palette.warning(cutToFit(why, width))];
  }
  const rows = slots.map(({ slotMs, locations, isPaused }): readonly Cell[] => [
    { text: `${whenText(slotMs, nowMs)} (in ${ageText(slotMs - nowMs)})` },
    {
      text: isPaused
        ? 'paused by a maintenance window'
        : locations.map((slug) => terminalSafe(slug, MAX_NAME_CHARS)).join(', '),
      paint: isPaused ? palette.warning : (text) => text,
    },
  ]);
  return tableLines(rows, { width, maxColumns: [TIME_COLUMNS] });
}

function locationRows({ slug, state, agents }: ExplainedLocation): readonly (readonly Cell[])[] {
  const cells = (what: string): readonly Cell[] => [
    { text: terminalSafe(slug, MAX_NAME_CHARS) },
    { text: terminalSafe(state) },
    { text: what },
  ];
  if (agents.length === 0) return [cells('no agent polls')];
  return agents.map((agent) => cells(agentText(agent)));
}

function agentText({ id, checks, problem }: ExplainedAgent): string {
  const what = problem === null ? ', this one too' : `, but not this one: ${terminalSafe(problem)}`;
  return `agent ${terminalSafe(id, MAX_NAME_CHARS)} runs ${countText(checks, 'check')}${what}`;
}

function isoOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
