import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

/** A part of a page with its heading. */
export function Panel({
  title,
  aside,
  children,
}: {
  readonly title: string;
  /** At the end of the heading. */
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </div>
      <div class="panel-body">{children}</div>
    </section>
  );
}

export type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values; entries without a value are omitted. */
export function Facts({ facts }: { readonly facts: readonly (Fact | null)[] }) {
  return (
    <dl class="check-facts">
      {facts.map(
        (fact) =>
          fact !== null && (
            <>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </>
          ),
      )}
    </dl>
  );
}
