import { prettyDuration } from '../print/time-text.ts';
import type { ListedStatus } from './board.ts';

/** Why a check does not pass. */
export interface Why {
  /** An error code, or `location_silent` or `no_result`; empty if the target answered. */
  readonly code: string;
  /** May contain text of the target. */
  readonly text: string;
}

export function whyOf(status: ListedStatus): Why {
  switch (status.state) {
    case 'failing': {
      const { code, message } = status.lastError ?? { code: null, message: null };
      const bare = status.checkType === 'HEARTBEAT' ? 'no ping came in time' : 'it failed';
      return { code: code ?? '', text: message ?? (code === null ? bare : '') };
    }
    case 'degraded':
      return { code: '', text: slowText(status) };
    case 'unknown':
      return { code: status.unknownReason ?? '', text: unknownText(status) };
  }
}

/** Why notifications of the check are suppressed, and the name of the user, key or channel that acknowledged its alert. */
export function alertRemarksOf(status: ListedStatus): readonly string[] {
  const { muted, mutedByGroup, inMaintenance, acknowledgement } = status;
  return [
    ...(muted ? ['muted'] : []),
    ...(mutedByGroup && !muted ? ['muted by its group'] : []),
    ...(inMaintenance ? ['in maintenance'] : []),
    ...(acknowledgement === null ? [] : [`acknowledged by ${acknowledgement.by.name}`]),
  ];
}

/** The locations that found the problem, or else those in which the check runs. */
export function locationsOf(status: ListedStatus): readonly string[] {
  const { state, lastError, lastRunLocation, locations } = status;
  const found = state === 'failing' ? (lastError?.location ?? lastRunLocation) : lastRunLocation;
  return state === 'unknown' || found === null || found === '' ? locations : [found];
}

function slowText({ checkType, lastResponseTime, usualResponseTime: usual }: ListedStatus): string {
  if (checkType === 'ICMP') return 'too many echoes were lost';
  if (lastResponseTime === null) return 'it is slow';
  const took = `took ${prettyDuration(lastResponseTime)}`;
  return usual === null ? took : `${took}, usually ${prettyDuration(usual)}`;
}

function unknownText({ checkType, unknownReason, hasErrors }: ListedStatus): string {
  if (unknownReason === 'location_silent') return 'no agent of its locations polls';
  if (checkType === 'HEARTBEAT') return 'no ping has come yet';
  return hasErrors
    ? 'the last run could not be judged, because of a fault of the system'
    : 'no run has ended yet';
}
