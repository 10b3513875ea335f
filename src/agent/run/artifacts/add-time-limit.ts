import type { Clock } from '../../../runtime/clock.ts';
import { isInTime } from '../../../runtime/wait.ts';
import type { AddedArtifact, NewArtifact } from '../../upload/artifact-outbox.ts';
import type { ArtifactTaker } from './failed-body.ts';

/** Even a slow disk writes 5 MB faster. */
const ADD_LIMIT_MS = 5000;

/**
 * Adds artifacts to the outbox with a time limit: a write to a mount that does not respond may
 * never return, and results must not wait for it. While such a write is pending, rejects further
 * artifacts: each write occupies memory and a thread of Node's pool.
 */
export function limitAddTime(artifacts: ArtifactTaker, clock: Clock): ArtifactTaker {
  let stuck = 0;
  return {
    async add(artifact) {
      if (stuck > 0) return tooSlow(artifact);
      const limit = new AbortController();
      const cancel = clock.after(ADD_LIMIT_MS, () => limit.abort());
      const adding = artifacts.add(artifact);
      try {
        if (await isInTime(adding, limit.signal)) return await adding;
      } finally {
        cancel();
      }
      stuck += 1;
      const ended = (): void => {
        stuck -= 1;
      };
      void adding.then(ended, ended);
      return tooSlow(artifact);
    },
  };
}

function tooSlow({ name }: NewArtifact): AddedArtifact {
  const note = `The artifact ${name} is not in the result: DATA_DIR did not take it within ${ADD_LIMIT_MS / 1000} s`;
  return { ok: false, note };
}
