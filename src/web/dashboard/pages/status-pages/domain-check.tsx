import { useState } from 'preact/hooks';
import { api, bodyOf } from '../../api/client.ts';
import { asApiError } from '../../api/errors.ts';
import { Button } from '../../parts/button.tsx';
import { StateMark } from '../../parts/states/state-mark.tsx';
import type { StatusPage } from './queries.ts';

interface Answer {
  readonly isReady: boolean;
  readonly text: string;
}

/** Shows whether the custom domain leads to the page, and advice if not. */
export function DomainCheck({
  page,
  isChanged,
}: {
  readonly page: StatusPage;
  /** Whether the domain is not saved yet. */
  readonly isChanged: boolean;
}) {
  const [isBusy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const check = async (): Promise<void> => {
    setBusy(true);
    try {
      const { isReady, advice } = await bodyOf(
        api.POST('/v1/status-pages/{statusPageId}/domain-check', {
          params: { path: { statusPageId: page.id } },
        }),
      );
      setAnswer({ isReady, text: advice });
    } catch (error) {
      setAnswer({ isReady: false, text: asApiError(error).message });
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="status-pages-domain">
      <Button isBusy={isBusy} disabled={isChanged} onClick={() => void check()}>
        Check {page.customDomain}
      </Button>
      <div role="status">
        {isChanged && <span class="muted">Save the domain first.</span>}
        {answer !== null && !isChanged && (
          <>
            <StateMark
              state={answer.isReady ? 'passing' : 'degraded'}
              word={answer.isReady ? 'Ready' : 'Not ready'}
            />{' '}
            {answer.text}
          </>
        )}
      </div>
    </div>
  );
}
