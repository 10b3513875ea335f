import type { components } from '../../../api/openapi.d.ts';
import type { MarkedState } from '../../../parts/states/state-mark.tsx';

export type Alert = components['schemas']['CheckAlert'];
export type AlertType = Alert['alertType'];

/** An alert as a state with a word, and as the end of a sentence that begins with the name of the check. */
export const ALERT_WORDS: Readonly<
  Record<AlertType, { readonly state: MarkedState; readonly word: string; readonly says: string }>
> = {
  NO_ALERT: { state: 'passing', word: 'No alert', says: 'has no alert' },
  ALERT_FAILURE: { state: 'failing', word: 'Failed', says: 'has failed' },
  ALERT_FAILURE_REMAIN: { state: 'failing', word: 'Still failing', says: 'is still failing' },
  ALERT_FAILURE_DEGRADED: {
    state: 'degraded',
    word: 'Only degraded',
    says: 'no longer fails, but is degraded',
  },
  ALERT_RECOVERY: { state: 'passing', word: 'Recovered', says: 'has recovered' },
  ALERT_DEGRADED: { state: 'degraded', word: 'Degraded', says: 'is degraded' },
  ALERT_DEGRADED_REMAIN: {
    state: 'degraded',
    word: 'Still degraded',
    says: 'is still degraded',
  },
  ALERT_DEGRADED_FAILURE: {
    state: 'failing',
    word: 'Failed',
    says: 'was degraded and has failed',
  },
  ALERT_DEGRADED_RECOVERY: {
    state: 'passing',
    word: 'Recovered',
    says: 'is no longer degraded',
  },
  ALERT_SSL: {
    state: 'degraded',
    word: 'Certificate',
    says: 'has a certificate that expires soon',
  },
};

/** The same for one alert, which may be about flapping. */
export function wordsOf({ flapping, alertType }: Alert): (typeof ALERT_WORDS)[AlertType] {
  const words = ALERT_WORDS[alertType];
  if (flapping === null) return words;
  return flapping === 'STARTED'
    ? { ...words, word: 'Flapping', says: 'is flapping: it sends no more alerts until it is calm' }
    : { ...words, word: 'Calm again', says: `no longer flaps: it ${words.says}` };
}

/** The choices of the filter of the list, with the types of alerts of each. */
export const ALERT_KINDS = [
  {
    value: 'failure',
    label: 'Failures',
    types: ['ALERT_FAILURE', 'ALERT_FAILURE_REMAIN', 'ALERT_DEGRADED_FAILURE'],
  },
  {
    value: 'degraded',
    label: 'Degraded',
    types: ['ALERT_DEGRADED', 'ALERT_DEGRADED_REMAIN', 'ALERT_FAILURE_DEGRADED'],
  },
  {
    value: 'recovery',
    label: 'Recoveries',
    types: ['ALERT_RECOVERY', 'ALERT_DEGRADED_RECOVERY'],
  },
  { value: 'certificate', label: 'Certificates', types: ['ALERT_SSL'] },
] as const satisfies readonly {
  readonly value: string;
  readonly label: string;
  readonly types: readonly AlertType[];
}[];

/** The page of the run that led to an alert; of the check where it is not known; of the heartbeat. */
export function runPathOf({ checkId, checkType, resultId }: Alert): string {
  const check = encodeURIComponent(checkId);
  if (checkType === 'HEARTBEAT') return `/heartbeats/${check}`;
  return resultId === null ? `/checks/${check}` : `/checks/${check}/results/${resultId}`;
}
