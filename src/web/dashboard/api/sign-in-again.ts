import { wouldLose } from '../parts/forms/use-unsaved-guard.ts';
import { signInPath } from '../shell/base-path.ts';

/**
 * Opens the sign-in page, which leads back to the same view.
 *
 * @returns false if unsaved changes or a value shown only once would be lost: then the error of the request is shown
 */
export function signInAgain(): boolean {
  if (wouldLose()) return false;
  location.assign(signInPath(location.pathname + location.search));
  return true;
}
