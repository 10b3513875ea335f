import type { components } from '../../api/openapi.d.ts';

export type ProblemKind = components['schemas']['MonitoringProblem']['kind'];

/** A problem of monitoring itself in a word, and as a kind of notification in the form of a channel. */
export const PROBLEM_WORDS: Readonly<
  Record<ProblemKind, { readonly word: string; readonly wish: string }>
> = {
  AGENT_OUTDATED: { word: 'Old agent', wish: 'Agents of an older version than the service' },
  AGENT_CLOCK_OFF: { word: 'Clock', wish: 'Agents whose clock is off' },
  SLOTS_MISSED: { word: 'Missed slots', wish: 'Locations that miss slots' },
  RESULTS_WAITING: { word: 'Waiting results', wish: 'Results that wait at agents' },
  CHANNEL_FAILING: { word: 'Channel fails', wish: 'Other channels that fail' },
  DISK_NEARLY_FULL: {
    word: 'Disk',
    wish: 'A disk of the database that is nearly full (in the first account)',
  },
};

export const PROBLEM_KINDS = Object.keys(PROBLEM_WORDS) as readonly ProblemKind[];

/** The problems that concern a location. */
export const LOCATION_PROBLEMS: ProblemKind[] = [
  'AGENT_OUTDATED',
  'AGENT_CLOCK_OFF',
  'SLOTS_MISSED',
  'RESULTS_WAITING',
];
