import { z } from 'zod';
import {
  heartbeatCheckSchema,
  heartbeatFields,
  rhythmFields,
} from '../../model/check/heartbeat.ts';
import { RESPONSE_FIELDS } from '../checks/response-fields.ts';
import { declareStateFields } from '../http/resources/state-fields.ts';

/** What pings change. */
const stateFields = {
  lastPingAt: z.iso
    .datetime()
    .nullable()
    .describe('When the last ping arrived; null before the first.'),
};
declareStateFields(stateFields);

/** Read-only fields: ignored if an update sends them back. */
export const RESPONSE_ONLY: readonly string[] = [
  'created_at',
  'updated_at',
  'alertChannels',
  'warnings',
  ...Object.keys(stateFields),
];

const {
  retryStrategy: _,
  frequencyOffset: __,
  variables: ___,
  ...heartbeatResponseFields
} = RESPONSE_FIELDS;
/** A heartbeat as responses show it. */
export const heartbeatResponse = heartbeatCheckSchema.extend({
  ...heartbeatResponseFields,
  ...stateFields,
  heartbeat: z
    .strictObject({
      ...rhythmFields,
      pingToken: z
        .string()
        .describe('Anyone who knows it can ping. ******** for keys without write access.'),
      pingUrl: z
        .string()
        .describe('Send a GET or POST request to it at the end of each run of the job.'),
    })
    .describe(heartbeatFields.heartbeat.description ?? ''),
});
