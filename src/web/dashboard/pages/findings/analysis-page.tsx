import { ErrorState } from '../../parts/error-state.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { TimeText } from '../../parts/time-text.tsx';
import { Link } from '../../shell/link.tsx';
import { useTitle } from '../../shell/title.ts';
import type { PageProps } from '../page-props.ts';
import './findings.css';
import { type RootCauseAnalysis, useAnalysis, wordsOf } from './queries.ts';

/** One analysis, with the run that it is about. */
export function Page({ params: { id = '' } }: PageProps) {
  const { data, error, isLoading, reload } = useAnalysis(id);
  const found = data.value;
  const title = found === null ? 'Root cause' : wordsOf(found.analysis.classification);
  useTitle(found === null ? null : title);
  return (
    <>
      <p class="findings-back">
        <Link to="/analyses">Root causes</Link>
      </p>
      <PageHeader title={title} />
      {error.value !== null && <ErrorState error={error.value} retry={reload} />}
      {found === null && error.value === null && (
        <div class="panel">
          {isLoading.value ? (
            <Skeleton lines={8} height={24} label="Loading the analysis" />
          ) : (
            <p class="panel-body muted">It is in progress. Reload the page in a moment.</p>
          )}
        </div>
      )}
      {found !== null && <Analysis found={found} />}
    </>
  );
}

function Analysis({ found }: { readonly found: RootCauseAnalysis }) {
  const { analysis, checkId, checkName, resultId } = found;
  const check = `/checks/${encodeURIComponent(checkId ?? '')}`;
  return (
    <section class="panel" aria-label="The analysis">
      <div class="panel-body findings-text">
        <p class="muted">
          {checkId !== null && (
            <>
              <Link to={check}>{checkName ?? checkId}</Link>,{' '}
              <Link to={`${check}/results/${encodeURIComponent(resultId)}`}>the run</Link>, made{' '}
            </>
          )}
          <TimeText at={found.created_at} form="date" /> by{' '}
          {found.provider === 'rules' ? 'rules' : found.model}
        </p>
        <Part title="Why it failed" text={analysis.rootCause} />
        <Part title="What users notice" text={analysis.userImpact} />
        <Part title="What to do" text={analysis.codeFix} />
        {analysis.evidence.length > 0 && (
          <div>
            <h2>Evidence</h2>
            <ul>
              {analysis.evidence.map(({ description }) => (
                <li key={description}>{description}</li>
              ))}
            </ul>
          </div>
        )}
        {analysis.referenceLinks.length > 0 && (
          <div>
            <h2>Further reading</h2>
            <ul>
              {analysis.referenceLinks.map(({ url, title }) => (
                <li key={url}>
                  <a href={url} rel="noreferrer" target="_blank">
                    {title}
                  </a>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </section>
  );
}

function Part({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div>
      <h2>{title}</h2>
      <p>{text}</p>
    </div>
  );
}
