import { type ApiError, adviceOf } from '../api/errors.ts';
import { signInPath } from '../shell/base-path.ts';
import { Button } from './button.tsx';
import { Copyable } from './copyable.tsx';

/** The error, advice, and the id of the request in the log of the service. */
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
      <Advice error={error} />
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

/** Shown instead of choices that could not be read. The rest of the form can be used. */
export function ChoicesError({
  what,
  error,
  retry,
}: {
  /** For example `groups`. */
  readonly what: string;
  /** Null: nothing is shown. */
  readonly error: ApiError | null;
  readonly retry: () => void;
}) {
  if (error === null) return null;
  return (
    <div class="form-error" role="alert">
      <p>
        The {what} could not be read: {error.message}
      </p>
      <Advice error={error} />
      {error.requestId !== null && (
        <p class="muted">
          request <Copyable text={error.requestId} />
        </p>
      )}
      <Button class="small" onClick={retry}>
        Try again
      </Button>
    </div>
  );
}

/** Advice on an error. */
export function Advice({ error }: { readonly error: ApiError }) {
  const advice = adviceOf(error);
  if (advice === null) return null;
  return (
    <p>
      {advice}
      {error.kind === 'unauthorized' && (
        <>
          {' '}
          <a href={signInPath(location.pathname + location.search)} target="_blank" rel="noopener">
            Sign in
          </a>
        </>
      )}
    </p>
  );
}
