import { signInPath } from '../shell/base-path.ts';

/** Whoever is no longer signed in signs in again, and comes back to the same view. */
export function signInAgain(): void {
  location.assign(signInPath(location.pathname + location.search));
}
