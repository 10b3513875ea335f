import { invalidate } from '../../api/query.ts';
import { tagsIn, tagsText } from '../../parts/forms/tags.ts';
import { localInput } from './days.ts';
import type { Window } from './occurrences.ts';

/** The values of the form of a window, as texts and choices. */
export interface Form {
  readonly name: string;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly unit: Window['repeatUnit'] | 'ONCE';
  readonly interval: string;
  readonly until: string;
  readonly pauses: 'all' | 'tags' | 'none';
  readonly tags: string;
  readonly silences: 'all' | 'tags' | 'none';
  readonly silencedTags: string;
}

const HOUR_MS = 3_600_000;

/** A window of an hour that begins on a day, not before the next hour. */
export function newForm(day: Date): Form {
  const startMs = Math.max(day.getTime(), Math.ceil(Date.now() / HOUR_MS) * HOUR_MS);
  return {
    name: '',
    startsAt: localInput(new Date(startMs)),
    endsAt: localInput(new Date(startMs + HOUR_MS)),
    unit: 'ONCE',
    interval: '1',
    until: '',
    pauses: 'tags',
    tags: '',
    silences: 'none',
    silencedTags: '',
  };
}

export function formOf(window: Window): Form {
  const { repeatInterval, repeatEndsAt, tags, silenceAlertsTags } = window;
  return {
    name: window.name,
    startsAt: localInput(new Date(window.startsAt)),
    endsAt: localInput(new Date(window.endsAt)),
    unit: repeatInterval === null ? 'ONCE' : window.repeatUnit,
    interval: String(repeatInterval ?? 1),
    until: repeatEndsAt === null ? '' : localInput(new Date(repeatEndsAt)),
    pauses: window.pauseAllChecks ? 'all' : tags.length > 0 ? 'tags' : 'none',
    tags: tagsText(tags),
    silences: window.silenceAllAlerts ? 'all' : silenceAlertsTags.length > 0 ? 'tags' : 'none',
    silencedTags: tagsText(silenceAlertsTags),
  };
}

/** An invalid text stays unchanged, so that the API reports the problem. */
function instant(text: string): string {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? text : at.toISOString();
}

/** The window for the API. */
export function bodyOf(form: Form) {
  const repeats = form.unit !== 'ONCE';
  return {
    name: form.name.trim(),
    startsAt: instant(form.startsAt),
    endsAt: instant(form.endsAt),
    repeatUnit: form.unit === 'ONCE' ? ('DAY' as const) : form.unit,
    repeatInterval: repeats ? Number(form.interval) : null,
    repeatEndsAt: repeats && form.until !== '' ? instant(form.until) : null,
    pauseAllChecks: form.pauses === 'all',
    tags: form.pauses === 'tags' ? tagsIn(form.tags) : [],
    silenceAllAlerts: form.silences === 'all',
    silenceAlertsTags: form.silences === 'tags' ? tagsIn(form.silencedTags) : [],
  };
}

/** Reads windows again, wherever they are shown. */
export function forgetWindows(): void {
  invalidate((key) => key.startsWith('maintenance'));
}
