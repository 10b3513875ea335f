import { z } from 'zod';
import { logicalIdField } from '../logical-id.ts';
import { commonFields } from './check.ts';
import { scriptFields, scriptRules } from './scripts.ts';

/** The writable fields of a group, before the rules between fields. */
export const checkGroupFields = z.strictObject({
  name: commonFields.name.describe('The name of the group.'),
  activated: commonFields.activated.describe('Whether the checks of the group run.'),
  muted: commonFields.muted.describe('Whether the checks of the group send no alerts.'),
  locations: commonFields.locations.describe(
    'Public locations: stored but not used, as no agent serves them. Responses warn of them.',
  ),
  privateLocations: commonFields.privateLocations.describe(
    'Private locations that run the checks of the group. If there are any, they replace those of the checks.',
  ),
  tags: commonFields.tags,
  concurrency: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .describe('How many checks run at once in each location when the group is run on request.'),
  runtimeId: commonFields.runtimeId,
  alertSettings: commonFields.alertSettings
    .unwrap()
    .nullable()
    .default(null)
    .describe('When failures send alerts. These settings replace those of the checks.'),
  useGlobalAlertSettings: commonFields.useGlobalAlertSettings.describe(
    'Whether the alert settings of the account replace those of the group.',
  ),
  setupScript: scriptFields.setupScript.describe(
    'JavaScript that runs before the setup script of each API check of the group.',
  ),
  teardownScript: scriptFields.teardownScript.describe(
    'JavaScript that runs after the teardown script of each API check of the group.',
  ),
  setupSnippetId: scriptFields.setupSnippetId,
  teardownSnippetId: scriptFields.teardownSnippetId,
  logicalId: logicalIdField,
});

/** Fields that checks also have follow the same rules. */
export const checkGroupSchema = checkGroupFields.superRefine(scriptRules);
export type CheckGroup = z.infer<typeof checkGroupSchema>;
