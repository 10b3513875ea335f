import type { VNode } from 'preact';
import { Html } from './layout.tsx';
import type { PageColors } from './style.ts';

interface ErrorPageProps {
  readonly colors: PageColors;
  readonly title: string;
  /** What the reader can do, in whole sentences. */
  readonly text: string;
}

/** Shown instead of a page that cannot be shown. */
export function ErrorPage({ colors, title, text }: ErrorPageProps): VNode {
  return (
    <Html colors={colors} title={title}>
      <main id="main">
        <section class="card">
          <h1>{title}</h1>
          <p class="muted">{text}</p>
        </section>
      </main>
    </Html>
  );
}
