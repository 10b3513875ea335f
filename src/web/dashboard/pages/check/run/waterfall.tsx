import { responseTime } from '../../../parts/formats.ts';
import type { Phase } from '../model.ts';

/** The smallest width of a bar; shorter phases would be invisible. */
const MIN_PERCENT = 0.4;

/** The duration of each phase as a bar that begins at the end of the previous one. */
export function Waterfall({
  phases,
  totalMs,
  usual,
  uncertaintyMs,
  redirects,
}: {
  readonly phases: readonly Phase[];
  readonly totalMs: number;
  /** Milliseconds by the names of phases, and `total`. */
  readonly usual: Readonly<Record<string, number | null>>;
  readonly uncertaintyMs: number;
  readonly redirects: number;
}) {
  const sum = Math.max(
    totalMs,
    phases.reduce((all, { ms }) => all + ms, 0),
  );
  const percent = (ms: number): number => (sum === 0 ? 0 : (ms / sum) * 100);
  let beforeMs = 0;
  return (
    <>
      <table class="check-waterfall">
        <thead class="visually-hidden">
          <tr>
            <th scope="col">Phase</th>
            <th scope="col">Share of the time</th>
            <th scope="col">Time</th>
            <th scope="col">Usual time</th>
          </tr>
        </thead>
        <tbody>
          {phases.map(({ name, label, ms }) => {
            const left = percent(beforeMs);
            beforeMs += ms;
            return (
              <tr key={name}>
                <th scope="row">{label}</th>
                <td class="bar" aria-label={`${Math.round(percent(ms))} %`}>
                  {ms > 0 && (
                    <i
                      class={`phase-${name}`}
                      style={{
                        marginLeft: `${Math.min(left, 100 - MIN_PERCENT)}%`,
                        width: `${Math.max(percent(ms), MIN_PERCENT)}%`,
                      }}
                    />
                  )}
                </td>
                <td class="num">{ms === 0 ? <span class="faint">none</span> : responseTime(ms)}</td>
                <td class="num faint">{usualText(usual[name])}</td>
              </tr>
            );
          })}
          <tr class="total">
            <th scope="row">Total</th>
            <td />
            <td class="num">{responseTime(totalMs)}</td>
            <td class="num faint">{usualText(usual.total)}</td>
          </tr>
        </tbody>
      </table>
      {(uncertaintyMs > 0 || redirects > 0) && (
        <p class="check-note muted">
          {redirects > 0 && `The phases of all ${redirects + 1} requests are added up. `}
          {uncertaintyMs > 0 &&
            `Times may be up to ${responseTime(uncertaintyMs)} too long: the agent was short of CPU.`}
        </p>
      )}
    </>
  );
}

function usualText(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '' : `usually ${responseTime(ms)}`;
}
