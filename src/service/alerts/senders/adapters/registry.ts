import type { ServiceChannelType } from '../../../../model/alerting/service-channels.ts';
import type { Adapter } from './adapter.ts';
import { alertmanager } from './alertmanager.ts';
import { discord } from './discord.ts';
import { googleChat } from './google-chat.ts';
import { gotify } from './gotify.ts';
import { incidentIo } from './incident-io.ts';
import { matrix } from './matrix.ts';
import { mattermost } from './mattermost.ts';
import { ntfy } from './ntfy.ts';
import { opsgenie } from './opsgenie.ts';
import { pagerduty } from './pagerduty.ts';
import { pushover } from './pushover.ts';
import { teams } from './teams.ts';
import { telegram } from './telegram.ts';

/** The adapter of each type that `SERVICE_CHANNELS` lists. */
export const ADAPTERS: { readonly [Type in ServiceChannelType]: Adapter<Type> } = {
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
