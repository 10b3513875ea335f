import type { ComponentChildren } from 'preact';
import { accountQuery } from '../api/signed-in-user.ts';
import { basePath } from './base-path.ts';

/**
 * The address of a path of the dashboard, such as `/checks/shop?tab=runs`. It names the account if the user
 * has several, so that a link shows the same to everybody.
 */
export function addressOf(to: string): string {
  const [beforeHash = '', hash = ''] = to.split(/(?=#)/);
  const [path = '', query = ''] = beforeHash.split('?');
  const all = [query, accountQuery.value].filter((part) => part !== '').join('&');
  return `${basePath}${path}${all === '' ? '' : `?${all}`}${hash}`;
}

interface LinkProps {
  /** A path of the dashboard. */
  readonly to: string;
  readonly children: ComponentChildren;
  readonly class?: string;
  readonly title?: string;
  readonly tabIndex?: number;
  readonly 'aria-current'?: 'page' | undefined;
  readonly 'aria-label'?: string;
  readonly onClick?: (event: MouseEvent) => void;
}

/** A link to another view of the dashboard. */
export function Link({ to, children, ...rest }: LinkProps) {
  return (
    <a href={addressOf(to)} {...rest}>
      {children}
    </a>
  );
}
