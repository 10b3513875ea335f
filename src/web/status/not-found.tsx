import type { VNode } from 'preact';
import { Html } from './layout.tsx';
import type { PageColors } from './style.ts';

/** The ways in which a permitted reader can open a private page. */
export interface Access {
  /** The path to which the form with the password is sent. */
  readonly action: string;
  /** The requested path below the page. */
  readonly next: string;
  /** null if members cannot sign in. */
  readonly signInHref: string | null;
  /** The reason why the form was refused; null if it was not sent. */
  readonly note: string | null;
}

interface NotFoundProps {
  readonly colors: PageColors;
  /** null below a page that the reader may read. */
  readonly access: Access | null;
}

/** The response for every address without a page that the reader may see: it reveals nothing else. */
export function NotFound({ colors, access }: NotFoundProps): VNode {
  return (
    <Html colors={colors} title="Page not found">
      <main id="main">
        <section class="card">
          <h1>There is no page at this address</h1>
          <p class="muted">
            Check that the address is complete. If somebody gave it to you, ask whether you may read
            the page.
          </p>
        </section>
        {access !== null && <AccessForm {...access} />}
      </main>
    </Html>
  );
}

function AccessForm({ action, next, signInHref, note }: Access): VNode {
  return (
    <section class="card">
      <h2>Is the page private?</h2>
      {note !== null && (
        <p role="alert">
          <strong>{note}</strong>
        </p>
      )}
      <form method="post" action={action}>
        <input type="hidden" name="next" value={next} />
        <label class="field">
          Password of the page
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        <button class="button" type="submit">
          Open the page
        </button>
      </form>
      {signInHref !== null && (
        <p class="muted">
          Members of its account <a href={signInHref}>sign in</a> instead.
        </p>
      )}
    </section>
  );
}
