import type { ComponentChildren } from 'preact';
import { Copyable } from './copyable.tsx';

/** Explains an empty page and the next step. */
export function EmptyState({
  title,
  children,
  command,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** A command that creates the first entry. */
  readonly command?: string;
}) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children !== undefined && <div class="empty-text">{children}</div>}
      {command !== undefined && <Copyable text={command} isBlock />}
    </div>
  );
}
