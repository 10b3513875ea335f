import { useEffect, useRef, useState } from 'preact/hooks';
import { api, bodyOf } from '../../../api/client.ts';
import { type ApiError, asApiError, isAbort } from '../../../api/errors.ts';
import type { components } from '../../../api/openapi.d.ts';
import type { Result } from '../../check/model.ts';
import type { Draft } from '../draft.ts';

export type Trial = Omit<components['schemas']['CheckTrial'], 'result'> & {
  readonly result: Result | null;
};

/** The service answers at once when the state changes. */
const WAIT_SECONDS = 20;

export interface TrialRun {
  readonly trial: Trial | null;
  readonly error: ApiError | null;
  /** From the request until the end of the trial. */
  readonly isRunning: boolean;
  start(location: string, check: Draft, checkId: string | null): void;
}

/**
 * Runs a check once without saving it, and follows the run until it ends.
 *
 * @param onRefused for example because a field is not valid
 */
export function useTrial(onRefused: (error: ApiError) => void): TrialRun {
  const [trial, setTrial] = useState<Trial | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [isRunning, setRunning] = useState(false);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);

  const run = async (
    { signal }: AbortController,
    location: string,
    check: Draft,
    checkId: string | null,
  ): Promise<void> => {
    try {
      const body = { location, checkId, check: check as never };
      let latest = await bodyOf(api.POST('/v1/check-trials', { body, signal }));
      setTrial(latest);
      while (latest.state === 'waiting' || latest.state === 'running') {
        const params = { path: { id: latest.id }, query: { waitSeconds: WAIT_SECONDS } };
        latest = await bodyOf(api.GET('/v1/check-trials/{id}', { params, signal }));
        setTrial(latest);
      }
    } catch (thrown) {
      if (isAbort(thrown)) return;
      const found = asApiError(thrown);
      setError(found);
      onRefused(found);
    } finally {
      if (!signal.aborted) setRunning(false);
    }
  };
  return {
    trial,
    error,
    isRunning,
    start(location, check, checkId) {
      current.current?.abort();
      const controller = new AbortController();
      current.current = controller;
      setTrial(null);
      setError(null);
      setRunning(true);
      void run(controller, location, check, checkId);
    },
  };
}
