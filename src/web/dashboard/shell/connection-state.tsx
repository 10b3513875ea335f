import { connection } from '../api/live-connection.ts';
import { TimeText } from '../parts/time-text.tsx';

/** Shows whether the page is updated automatically. */
export function ConnectionState() {
  const state = connection.value;
  return (
    <div class={`connection ${state.kind}`} role="status">
      <i aria-hidden="true" />
      {state.kind === 'live' && 'Live'}
      {state.kind === 'connecting' && 'Connecting…'}
      {state.kind === 'offline' && (
        <span>
          Offline since <TimeText at={state.sinceMs} form="clock" />, reconnecting
        </span>
      )}
    </div>
  );
}
