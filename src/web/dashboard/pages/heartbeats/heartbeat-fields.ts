import { tagsIn, tagsText } from '../../parts/forms/tags.ts';
import type { Heartbeat } from './queries.ts';

export type HeartbeatUnit = Heartbeat['heartbeat']['periodUnit'];

/** The values of the form of a heartbeat while it is edited. */
export interface HeartbeatForm {
  readonly name: string;
  readonly period: string;
  readonly periodUnit: HeartbeatUnit;
  readonly grace: string;
  readonly graceUnit: HeartbeatUnit;
  /** As `tagsText` writes them. */
  readonly tags: string;
  readonly description: string;
  /** Empty: none. */
  readonly groupId: string;
  readonly muted: boolean;
  readonly useGlobalAlertSettings: boolean;
  readonly alertSettings: Heartbeat['alertSettings'];
  /** Null for a new one: all existing channels. */
  readonly channels: Heartbeat['alertChannelSubscriptions'] | null;
}

export const NEW_HEARTBEAT: HeartbeatForm = {
  name: '',
  period: '1',
  periodUnit: 'DAYS',
  grace: '1',
  graceUnit: 'HOURS',
  tags: '',
  description: '',
  groupId: '',
  muted: false,
  useGlobalAlertSettings: true,
  alertSettings: { escalationType: 'RUN_BASED' },
  channels: null,
};

export function formOf(stored: Heartbeat): HeartbeatForm {
  const { name, tags, description, heartbeat } = stored;
  const { period, periodUnit, grace, graceUnit } = heartbeat;
  return {
    name,
    period: String(period),
    periodUnit,
    grace: String(grace),
    graceUnit,
    tags: tagsText(tags),
    description: description ?? '',
    groupId: stored.groupId === null ? '' : String(stored.groupId),
    muted: stored.muted,
    useGlobalAlertSettings: stored.useGlobalAlertSettings,
    alertSettings: stored.alertSettings,
    channels: stored.alertChannelSubscriptions,
  };
}

export function bodyOf(form: HeartbeatForm) {
  const { name, period, periodUnit, grace, graceUnit, tags, description, channels } = form;
  const text = description.trim();
  return {
    name: name.trim(),
    heartbeat: { period: Number(period), periodUnit, grace: Number(grace), graceUnit },
    tags: tagsIn(tags),
    description: text === '' ? null : text,
    groupId: form.groupId === '' ? null : Number(form.groupId),
    muted: form.muted,
    useGlobalAlertSettings: form.useGlobalAlertSettings,
    ...(form.useGlobalAlertSettings ? {} : { alertSettings: form.alertSettings }),
    ...(channels === null ? {} : { alertChannelSubscriptions: [...channels] }),
  };
}
