import { useEffect } from 'preact/hooks';
import { ErrorState } from '../../../parts/error-state.tsx';
import { bytes, responseTime } from '../../../parts/formats.ts';
import { nowMs, TimeText } from '../../../parts/time-text.tsx';
import { basePath } from '../../../shell/base-path.ts';
import { type Detail, detailOf, type Result, type Trace } from '../model.ts';
import { useArtifacts } from '../queries.ts';

export function JobLog({ entries }: { readonly entries: Detail['jobLog'] }) {
  if (entries.length === 0) return <p class="muted">This run has no log.</p>;
  return (
    <ol class="check-log">
      {entries.map(({ time, level, msg }, index) => (
        <li key={index} class={level}>
          <TimeText at={time} form="clock" /> <span>{msg}</span>
        </li>
      ))}
    </ol>
  );
}

/** The route to the target, hop by hop. */
export function TraceTable({ trace }: { readonly trace: Trace }) {
  const { hops, hostname, resolvedIp, destinationReached, truncationReason } = trace;
  return (
    <>
      <p class="check-note">
        To <code>{hostname}</code> {resolvedIp !== hostname && <code>{resolvedIp}</code>}:{' '}
        {destinationReached ? 'reached' : <b class="failing">not reached</b>}
        {truncationReason !== null && `, ${truncationReason}`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls */}
      <section class="check-scroll" tabIndex={0} aria-label="Hops of the trace">
        <table class="check-trace">
          <thead>
            <tr>
              <th scope="col" class="num">
                Hop
              </th>
              <th scope="col">Address</th>
              <th scope="col" class="num">
                Loss
              </th>
              <th scope="col" class="num">
                Sent
              </th>
              <th scope="col" class="num">
                Average
              </th>
              <th scope="col" class="num">
                Best
              </th>
              <th scope="col" class="num">
                Worst
              </th>
            </tr>
          </thead>
          <tbody>
            {hops.map((hop) => (
              <tr key={hop.hop}>
                <td class="num">{hop.hop}</td>
                <td>
                  {hop.address === null ? (
                    <span class="muted">no reply</span>
                  ) : (
                    <code>{hop.address}</code>
                  )}
                  {hop.host !== null && <span class="muted"> {hop.host}</span>}
                </td>
                <td class={`num${hop.lossPercent > 0 ? ' degraded' : ''}`}>
                  {Math.round(hop.lossPercent)} %
                </td>
                <td class="num">{hop.sent}</td>
                <td class="num">{responseTime(hop.avgMs)}</td>
                <td class="num">{responseTime(hop.bestMs)}</td>
                <td class="num">{responseTime(hop.worstMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

/** After this time the service drops an upload without progress. */
const UPLOAD_MS = 86_400_000;

/** The artifacts of a run: stored, still being uploaded, or deleted. */
export function ArtifactList({ result }: { readonly result: Result }) {
  const found = useArtifacts(result.checkId, result.id);
  const detail = detailOf(result);
  const artifacts = found.data.value;
  const error = found.error.value;
  const named = [...(detail?.jobAssets ?? []), detail?.pcapDataUrl ?? ''].filter(
    (url) => url !== '',
  );
  const missing = [...new Set(named)].filter(
    (url) => !(artifacts ?? []).some((artifact) => artifact.url === url),
  );
  const isYoung = nowMs.value - Date.parse(result.created_at) < UPLOAD_MS;
  const isAwaited = artifacts !== null && missing.length > 0 && isYoung;
  useEffect(() => {
    if (isAwaited) found.reload();
  }, [nowMs.value]);
  if (artifacts === null) {
    return error === null ? (
      <p class="muted">Loading…</p>
    ) : (
      <ErrorState error={error} retry={found.reload} />
    );
  }
  return (
    <>
      {artifacts.length > 0 && (
        <ul class="check-artifacts">
          {artifacts.map(({ id, name, url, bytes: size, contentType }) => (
            <li key={id}>
              <a href={basePath + url} download={name} target="_top">
                {labelOf(name, url === detail?.pcapDataUrl)}
              </a>{' '}
              <span class="muted">
                {name}, {contentType}, {bytes(size)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {missing.length > 0 && (
        <p class="muted" role="status">
          {missing.length === 1 ? 'One file' : `${missing.length} files`} of this run{' '}
          {isYoung
            ? 'are still being uploaded, or the agent dropped them: the job log says so.'
            : 'are no longer stored: they were deleted when their retention ended, or never arrived.'}
        </p>
      )}
      {artifacts.length === 0 && missing.length === 0 && (
        <p class="muted">
          This run has no files. Agents keep captures and whole bodies of runs that fail.
        </p>
      )}
    </>
  );
}

function labelOf(name: string, isCapture: boolean): string {
  if (isCapture || /\.pcap(ng)?$/.test(name)) return 'Packet capture';
  if (/trace/i.test(name)) return 'Trace';
  return /body/i.test(name) ? 'Response body' : name;
}
