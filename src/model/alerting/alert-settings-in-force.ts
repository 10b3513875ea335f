import type { AlertSettings } from './alert-settings.ts';

/** The alert settings that may apply to a check. null: none are set. */
export interface AlertSettingsSources {
  readonly own: AlertSettings | null;
  readonly ownUsesGlobal: boolean;
  readonly group: AlertSettings | null;
  readonly groupUsesGlobal: boolean;
  readonly account: AlertSettings | null;
}

/**
 * The settings that apply to a check (src/service/README.md, "Alerts"). A group with settings
 * decides for its checks: its own settings apply, or the account's if it uses the global ones.
 * Without a group, or if the group has no settings, the check decides in the same way.
 */
export function settingsInForce(sources: AlertSettingsSources): AlertSettings | null {
  if (sources.group !== null) return sources.groupUsesGlobal ? sources.account : sources.group;
  return sources.ownUsesGlobal ? sources.account : sources.own;
}
