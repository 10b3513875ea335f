import type { VNode } from 'preact';
import { Html } from './layout.tsx';
import type { PageColors } from './style.ts';

/** The answer to every address without a page that its reader may see: it tells nothing else. */
export function NotFound({ colors }: { readonly colors: PageColors }): VNode {
  return (
    <Html colors={colors} title="Page not found">
      <main id="main">
        <section class="card">
          <h1>There is no page at this address</h1>
          <p class="muted">
            See that the address is complete. If somebody gave it to you, ask whether you may read
            the page.
          </p>
        </section>
      </main>
    </Html>
  );
}
