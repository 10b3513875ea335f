import { useState } from 'preact/hooks';
import type { FieldProblem } from '../../../api/errors.ts';
import { Button } from '../../../parts/button.tsx';
import { problemOf, SelectField } from '../../../parts/field.tsx';
import { responseTime } from '../../../parts/formats.ts';
import { StateMark } from '../../../parts/states/state-mark.tsx';
import { TimeText } from '../../../parts/time-text.tsx';
import '../../check/check.css';
import {
  detailOf,
  phasesOf,
  RESULT_STATES,
  RESULT_WORDS,
  type Result,
  runResultOf,
  tlsOf,
} from '../../check/model.ts';
import { Facts, Panel } from '../../check/panel.tsx';
import { Assertions } from '../../check/run/assertions.tsx';
import { JobLog } from '../../check/run/evidence.tsx';
import { Exchange, TlsPanel } from '../../check/run/exchange.tsx';
import { factsOf } from '../../check/run/run-facts.tsx';
import { Waterfall } from '../../check/run/waterfall.tsx';
import { WhatToTry } from '../../check/why.tsx';
import type { Draft } from '../draft.ts';
import { useLocations } from '../schedule.tsx';
import { Section } from '../section.tsx';
import { type Trial, useTrial } from './use-trial.ts';

/** Runs the check of the form once, at a location, before it is saved. */
export function TrialPanel({
  checkOf,
  checkId,
  chosen,
  isDisabled,
  onProblems,
}: {
  /** The check as it would be saved. */
  readonly checkOf: () => Draft;
  /** Null for a new check. */
  readonly checkId: string | null;
  /** The slugs of the locations of the check. */
  readonly chosen: readonly string[];
  readonly isDisabled: boolean;
  /** Gets the problems of the check, for its fields. */
  readonly onProblems: (problems: readonly FieldProblem[]) => void;
}) {
  const [picked, pick] = useState<string | null>(null);
  const { trial, error, isRunning, start } = useTrial(({ problems }) => onProblems(problems));
  const found = useLocations().data.value?.entries ?? [];
  const slugs = [...new Set([...chosen, ...found.map(({ slug }) => slug)])];
  const location = picked ?? slugs[0] ?? '';
  const isRefused = (error?.problems ?? []).length > 0;
  const run = (): void => {
    onProblems([]);
    const check = checkOf();
    // It need not have a location yet.
    const isNowhere = [check.locations, check.privateLocations].every(
      (each) => !Array.isArray(each) || each.length === 0,
    );
    start(location, isNowhere ? { ...check, privateLocations: [location] } : check, checkId);
  };
  return (
    <Section title="Try it">
      <p class="editing-wide editing-lead muted">
        Runs the check once as it stands here, without saving it. The result sends no alert.
      </p>
      <SelectField
        label="At the location"
        value={location}
        options={slugs.map((slug) => ({ value: slug, label: slug }))}
        problem={error === null ? null : problemOf(error.problems, 'location')}
        onValue={pick}
      />
      <div class="editing-try">
        <Button isBusy={isRunning} disabled={isDisabled || location === ''} onClick={run}>
          Try it
        </Button>
      </div>
      <div class="editing-wide" role="status">
        {trial !== null && <Progress trial={trial} />}
        {error !== null && (
          <p class="editing-problem">
            {isRefused ? 'Some fields are not valid: each says what is wrong.' : error.message}
          </p>
        )}
      </div>
      {trial?.state === 'finished' && trial.result !== null && (
        <div class="editing-wide">
          {trial.explanation !== null && <WhatToTry explanation={trial.explanation} />}
          <Outcome result={trial.result} />
        </div>
      )}
    </Section>
  );
}

function Progress({ trial }: { readonly trial: Trial }) {
  const { state, location, created_at: createdAt, message } = trial;
  if (state === 'waiting') {
    return (
      <p>
        Waiting for an agent at <b>{location}</b>, since <TimeText at={createdAt} form="clock" />
      </p>
    );
  }
  if (state === 'running') {
    return (
      <p>
        An agent at <b>{location}</b> makes the run…
      </p>
    );
  }
  return state === 'finished' ? <p>The run at {location} has ended.</p> : <p>{message}</p>;
}

/** The parts of a run's page. */
function Outcome({ result }: { readonly result: Result }) {
  const detail = detailOf(result);
  const ended = runResultOf(result);
  const tls = tlsOf(result);
  return (
    <div class="editing-outcome">
      <p>
        <StateMark state={RESULT_STATES[ended]} word={RESULT_WORDS[ended]} />{' '}
        <span class="muted">
          {responseTime(result.responseTime)} · from {result.runLocation}
        </span>
      </p>
      <Panel title="Where the time went">
        <Waterfall
          phases={phasesOf(result)}
          totalMs={result.responseTime}
          usual={{}}
          uncertaintyMs={detail?.timing?.uncertaintyMs ?? 0}
          redirects={result.apiCheckResult?.response?.redirects.length ?? 0}
        />
      </Panel>
      {detail !== null && detail.assertions.length > 0 && (
        <Panel title="Assertions of the run">
          <Assertions assertions={detail.assertions} />
        </Panel>
      )}
      <Panel title="Job log">
        <JobLog entries={detail?.jobLog ?? []} />
      </Panel>
      <Exchange result={result} />
      <Panel title="This run">
        <Facts facts={factsOf(result)} />
      </Panel>
      {tls !== null && <TlsPanel tls={tls} />}
    </div>
  );
}
