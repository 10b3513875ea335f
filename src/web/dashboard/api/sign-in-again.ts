import { hasUnsavedChanges } from '../parts/forms/use-unsaved-guard.ts';
import { signInPath } from '../shell/base-path.ts';

/**
 * Whoever is no longer signed in signs in again, and comes back to the same view.
 *
 * @returns false if something is not saved, which would be lost: the error of the request says what to do
 */
export function signInAgain(): boolean {
  if (hasUnsavedChanges()) return false;
  location.assign(signInPath(location.pathname + location.search));
  return true;
}
