import type { ServiceChannelType } from '../../../../src/model/alerting/service-channels.ts';
import { discord, googleChat, matrix, mattermost, telegram } from './chats.ts';
import { alertmanager, incidentIo, opsgenie, pagerduty } from './incidents.ts';
import { gotify, ntfy, pushover } from './pushes.ts';
import type { ServiceRules } from './rules.ts';
import { teams } from './teams.ts';

export const SERVICE_RULES: Readonly<Record<ServiceChannelType, ServiceRules>> = {
  TEAMS: teams,
  DISCORD: discord,
  TELEGRAM: telegram,
  PAGERDUTY: pagerduty,
  OPSGENIE: opsgenie,
  NTFY: ntfy,
  PUSHOVER: pushover,
  GOOGLE_CHAT: googleChat,
  MATTERMOST: mattermost,
  MATRIX: matrix,
  GOTIFY: gotify,
  INCIDENT_IO: incidentIo,
  ALERTMANAGER: alertmanager,
};
