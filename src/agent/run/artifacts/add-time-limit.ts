import type { Clock } from '../../../runtime/clock.ts';
import { isInTime } from '../../../runtime/wait.ts';
import type { AddedArtifact, NewArtifact } from '../../upload/artifact-outbox.ts';
import type { ArtifactTaker } from './failed-body.ts';

/** A disk takes 5 MB in less, also a slow one. */
const ADD_LIMIT_MS = 5000;

/**
 * Takes artifacts as the outbox does, and gives up where that takes too long: on a mount that does
 * not answer it would never come back, and no result waits for that. What is given up there is
 * not tried again before it has ended, since each try holds bytes, and a thread of Node's.
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
  const note = `The artifact ${name} is not told of: DATA_DIR did not take it within ${ADD_LIMIT_MS / 1000} s`;
  return { ok: false, note };
}
