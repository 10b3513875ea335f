import { wouldLose } from '../parts/forms/use-unsaved-guard.ts';
import { signInPath } from '../shell/base-path.ts';

/**
 * Whoever is no longer signed in signs in again, and comes back to the same view.
 *
 * @returns false if something would be lost, which is not saved or shown once: the error of the request says what to do
 */
export function signInAgain(): boolean {
  if (wouldLose()) return false;
  location.assign(signInPath(location.pathname + location.search));
  return true;
}
