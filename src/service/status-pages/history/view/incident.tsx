import type { VNode } from 'preact';
import { twoUnitText } from '../../../../runtime/text/duration-text.ts';
import { type ShownPage, StatusLayout } from '../../../../web/status/layout.tsx';
import { markdownHtml } from '../../../../web/status/markdown.ts';
import { Instant, Period } from '../../../../web/status/texts.tsx';
import { Impact, type Names, Services, Update } from '../../site/view/events.tsx';
import type { IncidentInHistory } from '../page-history.ts';

interface IncidentViewProps {
  readonly requested: ShownPage;
  readonly incident: IncidentInHistory;
  readonly names: Names;
}

/** The permanent page of an incident. */
export function IncidentView({ requested, incident, names }: IncidentViewProps): VNode {
  const { name, severity, startedAtMs, resolvedAtMs, serviceIds, updates, postMortem } = incident;
  const { path } = requested;
  return (
    <StatusLayout requested={requested} title={name}>
      <article class="card">
        <div class="top">
          <h1 dir="auto">{name}</h1>
          <Impact severity={severity} isOver={resolvedAtMs !== null} />
        </div>
        <div class="facts">
          {resolvedAtMs === null ? (
            <span>
              Open since <Instant atMs={startedAtMs} />
            </span>
          ) : (
            <>
              <span>
                <Period startMs={startedAtMs} endMs={resolvedAtMs} />
              </span>
              <span>Resolved after {twoUnitText(resolvedAtMs - startedAtMs)}</span>
            </>
          )}
          <Services ids={serviceIds} names={names} />
        </div>
        <ol class="updates">{updates.map(Update)}</ol>
      </article>
      {postMortem !== null && (
        <section class="card">
          <h2>Post-mortem</h2>
          {/* HTML of markdownHtml, which has no element of the author. */}
          <div dangerouslySetInnerHTML={{ __html: markdownHtml(postMortem) }} />
        </section>
      )}
      <nav aria-label="Page">
        <a href={`${path}/history`}>All incidents</a>
      </nav>
    </StatusLayout>
  );
}
