import type { ApiError } from '../api/errors.ts';
import { Button } from './button.tsx';
import { Copyable } from './copyable.tsx';

/** What could not be shown, with the id by which the log of the service names the request. */
export function ErrorState({
  error,
  retry,
}: {
  readonly error: ApiError;
  readonly retry: () => void;
}) {
  return (
    <div class="error-state" role="alert">
      <h2>{error.message}</h2>
      <p class="muted">
        <code>{error.code}</code>
        {error.requestId !== null && (
          <>
            {' '}
            request <Copyable text={error.requestId} />
          </>
        )}
      </p>
      <Button onClick={retry}>Try again</Button>
    </div>
  );
}
