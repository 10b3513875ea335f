import type { ComponentChildren } from 'preact';

/** The title of a page. It gets the focus after a navigation. */
export function PageHeader({
  title,
  children,
  actions,
}: {
  readonly title: ComponentChildren;
  /** Beside the title. */
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  return (
    <header class="page-header">
      <h1 tabIndex={-1}>{title}</h1>
      {children}
      {actions !== undefined && (
        <>
          <span class="grow" />
          <div class="actions">{actions}</div>
        </>
      )}
    </header>
  );
}
