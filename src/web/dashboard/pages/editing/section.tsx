import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

/** A part of the form with its heading. */
export function Section({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
      </div>
      <div class="panel-body editing-section">{children}</div>
    </section>
  );
}
