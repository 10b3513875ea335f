import type { ComponentChildren } from 'preact';
import { Button } from '../button.tsx';
import { Copyable } from '../copyable.tsx';
import type { Followed } from './use-followed.ts';

/** The current state of a followed run, in one line. */
export function FollowedBar({
  class: given,
  followed: { run, error, isOpen, isCancelling, cancel, retry },
  text,
  link,
  close,
}: {
  readonly class: string;
  readonly followed: Followed<unknown>;
  /** Describes the run as it was last read. */
  readonly text: ComponentChildren;
  readonly link: ComponentChildren;
  readonly close: () => void;
}) {
  return (
    <div class={given}>
      {(run !== null || error === null) && (
        <span role="status">{run === null ? 'The run is requested…' : text}</span>
      )}
      {error !== null && (
        <>
          <span class="failing" role="alert">
            The run cannot be followed: {error.message}
            {error.requestId !== null && (
              <>
                {' '}
                Request <Copyable text={error.requestId} />
              </>
            )}
          </span>
          <Button onClick={retry}>Try again</Button>
        </>
      )}
      {link}
      <span class="grow" />
      {isOpen && (
        <Button isBusy={isCancelling} onClick={cancel}>
          Cancel the run
        </Button>
      )}
      <Button kind="plain" onClick={close}>
        Close
      </Button>
    </div>
  );
}
