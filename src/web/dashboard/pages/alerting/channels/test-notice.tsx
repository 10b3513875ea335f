import { useState } from 'preact/hooks';
import { api, bodyOf } from '../../../api/client.ts';
import { type ApiError, asApiError } from '../../../api/errors.ts';
import { Button } from '../../../parts/button.tsx';
import { StateMark } from '../../../parts/states/state-mark.tsx';

interface Answer {
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
}

/** Sends a test notification and shows the response of the receiver. */
export function TestNotice({
  id,
  isChanged,
}: {
  readonly id: number;
  readonly isChanged: boolean;
}) {
  const [isBusy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const send = async (): Promise<void> => {
    setBusy(true);
    setAnswer(null);
    setError(null);
    try {
      setAnswer(
        await bodyOf(api.POST('/v1/alert-channels/{id}/test', { params: { path: { id } } })),
      );
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="panel-body alerting-test-notice" aria-labelledby="test-title">
      <h2 id="test-title" class="visually-hidden">
        Test
      </h2>
      <div class="alerting-form-actions">
        <Button onClick={() => void send()} isBusy={isBusy} disabled={isChanged}>
          {isBusy ? 'Sending…' : 'Send a test'}
        </Button>
        <span class="muted">
          {isChanged
            ? 'Save first: the test uses the saved settings.'
            : 'A notification that says it is a test.'}
        </span>
      </div>
      <div class="alerting-test-answer" role="status">
        {answer !== null && (
          <>
            <StateMark
              state={answer.delivered ? 'passing' : 'failing'}
              word={answer.delivered ? 'Delivered' : 'Not delivered'}
            />
            {answer.status !== null && (
              <span>The receiver answered with status {answer.status}.</span>
            )}
            {answer.error !== null && <span>{answer.error}</span>}
          </>
        )}
        {error !== null && <span class="failing">{error.message}</span>}
      </div>
    </section>
  );
}
