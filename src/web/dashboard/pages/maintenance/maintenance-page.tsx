import { useState } from 'preact/hooks';
import { api, pageOf } from '../../api/client.ts';
import { useQuery } from '../../api/query.ts';
import { may } from '../../api/signed-in-user.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { count, counted } from '../../parts/formats.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import { Calendar, OccurrenceList } from './calendar.tsx';
import { dayOf, daysOf, dayText, moved, parseDay, type View, zoneText } from './days.ts';
import './maintenance.css';
import { type Occurrence, occurrencesIn, overlapping, type Window } from './occurrences.ts';
import { WindowDialog } from './window-dialog.tsx';
import { WindowForm } from './window-form.tsx';

const PER_PAGE = 100;
/** An account has at most 10,000 windows, past ones included. */
const MAX_PAGES = 100;

const MONTH = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric' });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

type Opened =
  | { readonly kind: 'new'; readonly day: Date }
  | { readonly kind: 'window'; readonly occurrence: Occurrence }
  | { readonly kind: 'edit'; readonly id: number }
  | null;

/** The maintenance windows, which pause checks and silence alerts. */
export function Page() {
  const state = useUrlState();
  const [opened, open] = useState<Opened>(null);
  const view: View = state.get('view') === 'week' ? 'week' : 'month';
  const selected = parseDay(state.get('day')) ?? dayOf(Date.now());
  const days = daysOf(view, selected);
  const fromMs = days[0]?.getTime() ?? 0;
  const toMs = dayOf(days.at(-1) ?? selected, 1).getTime();
  const query = useWindows();
  const windows = query.data.value;
  const error = query.error.value;
  const occurrences = occurrencesIn(windows ?? [], fromMs, toMs);
  const overlaps = overlapping(occurrences);
  const select = (day: Date): void => state.set({ day: dayText(day) });
  const openOccurrence = (occurrence: Occurrence): void => open({ kind: 'window', occurrence });
  const make = (day: Date): void => open({ kind: 'new', day });
  return (
    <>
      <PageHeader
        title="Maintenance"
        actions={
          may('write') && (
            <Button kind="primary" onClick={() => make(selected)}>
              New window
            </Button>
          )
        }
      >
        <span class="muted">Times are in {zoneText()}.</span>
      </PageHeader>
      <div class="maintenance-bar">
        <Button aria-label={`Previous ${view}`} onClick={() => select(moved(view, selected, -1))}>
          ‹
        </Button>
        <Button onClick={() => select(dayOf(Date.now()))}>Today</Button>
        <Button aria-label={`Next ${view}`} onClick={() => select(moved(view, selected, 1))}>
          ›
        </Button>
        <h2 aria-live="polite">
          {view === 'month'
            ? MONTH.format(selected)
            : DAY.formatRange(days[0] ?? selected, days.at(-1) ?? selected)}
        </h2>
        <span class="grow" />
        {overlaps.size > 0 && <span class="degraded">{count(overlaps.size)} overlap</span>}
        <fieldset class="maintenance-views">
          <legend class="visually-hidden">View</legend>
          {(['month', 'week'] as const).map((each) => (
            <Button
              key={each}
              aria-pressed={view === each}
              class={view === each ? 'chosen' : ''}
              onClick={() => state.set({ view: each === 'month' ? null : each })}
            >
              {each === 'month' ? 'Month' : 'Week'}
            </Button>
          ))}
        </fieldset>
      </div>
      {error !== null && <ErrorState error={error} retry={query.reload} />}
      {windows === null && error === null && (
        <div class="panel">
          <Skeleton lines={6} height={96} label="Loading the windows" />
        </div>
      )}
      {windows?.length === 0 && (
        <EmptyState title="There is no maintenance window yet">
          A window pauses checks, silences their alerts, and is announced on status pages.
          {may('write')
            ? ' Create one here, or press Enter on a day.'
            : ' Somebody with the role write can create one.'}
        </EmptyState>
      )}
      {windows !== null && (
        <>
          <div class="panel maintenance-wide">
            <Calendar
              view={view}
              days={days}
              selected={selected}
              occurrences={occurrences}
              overlaps={overlaps}
              onSelect={select}
              onOpen={openOccurrence}
              {...(may('write') ? { onMake: make } : {})}
            />
          </div>
          <section class="panel" aria-label="List of windows">
            <div class="panel-head">
              <h2>
                {counted(occurrences.length, 'window')} in this {view}
              </h2>
            </div>
            <OccurrenceList occurrences={occurrences} overlaps={overlaps} onOpen={openOccurrence} />
          </section>
        </>
      )}
      {opened?.kind === 'new' && <WindowForm day={opened.day} onClose={() => open(null)} />}
      {opened?.kind === 'edit' && (
        <WindowForm day={selected} id={opened.id} onClose={() => open(null)} />
      )}
      {opened?.kind === 'window' && (
        <WindowDialog
          {...opened.occurrence}
          all={windows ?? []}
          onEdit={() => open({ kind: 'edit', id: opened.occurrence.window.id })}
          onClose={() => open(null)}
        />
      )}
    </>
  );
}

/** Reads all windows: a repeated window may have begun years before the shown month. */
function useWindows() {
  return useQuery(
    'maintenance windows',
    async (signal) => {
      const all: Window[] = [];
      for (let page = 1; page <= MAX_PAGES; page += 1) {
        const query = { limit: PER_PAGE, page };
        const { entries } = await pageOf(
          api.GET('/v1/maintenance-windows', { params: { query }, signal }),
        );
        all.push(...entries);
        if (entries.length < PER_PAGE) break;
      }
      return all;
    },
    { on: ['maintenance_window'] },
  );
}
