import { DASHBOARD_PATHS } from '../../dashboard-paths.ts';
import { basePath } from './base-path.ts';

/** Links to these addresses change the view; all others are loaded by the browser. */
export const DASHBOARD_SCOPE = new RegExp(
  `^(?:${Object.values(DASHBOARD_PATHS)
    .map((path) => escapedForPattern(basePath + path).replaceAll(/:\w+/g, '[^/]+'))
    .join('|')})(?:[?#]|$)`,
);

function escapedForPattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
