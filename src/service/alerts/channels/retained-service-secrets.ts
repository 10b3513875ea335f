import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import { SERVICE_CHANNELS } from '../../../model/alerting/service-channels.ts';
import {
  type PublicServiceTarget,
  secretFieldsOf,
  secretFlagOf,
} from '../../../model/alerting/service-targets.ts';
import { originOf } from '../../../model/credentials/origin.ts';
import { invalid } from '../../errors.ts';
import type { RawBody } from '../../http/resources/given-fields.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';
import { readRetained } from '../../secrets/secret-store.ts';

const ELSEWHERE =
  'must be given again: a secret stays only where scheme, host and port of the URL stay the same';

/**
 * The configuration of an update of a service channel, with the stored secrets that it omits. Flags of responses, such
 * as `hasToken`, have no effect.
 *
 * @param decryptStored called only if a secret is retained, so that a channel whose secrets cannot be decrypted can get
 *   new ones
 * @throws ServiceError 400 if a secret is retained for a URL with another scheme, host or port: a caller who may write
 *   could read it there; 409 if no key decrypts it
 */
export function withRetainedServiceSecrets(
  given: RawBody,
  { type, config: stored }: PublicServiceTarget,
  decryptStored: () => ChannelTarget,
): RawBody {
  const secrets = secretFieldsOf(type);
  const flags = secrets.map(secretFlagOf);
  const config = Object.fromEntries(
    Object.entries(given).filter(([field]) => !flags.includes(field)),
  );
  const retained = secrets.filter(
    (field) => config[field] === undefined && stored[secretFlagOf(field)] === true,
  );
  if (retained.length === 0) return config;
  const url = urlOf(type, config.url);
  if (url !== null && originOf(url) !== originOf(stored.url)) {
    throw invalid(retained.map((field) => bodyProblem(['config', field], ELSEWHERE)));
  }
  const paths = retained.map((field) => bodyProblem(['config', field], '').path);
  const values = new Map<string, unknown>(
    Object.entries(readRetained(paths, decryptStored).config),
  );
  return {
    ...config,
    ...Object.fromEntries(retained.map((field) => [field, values.get(field) ?? null])),
  };
}

/** The URL that the channel will have; null for an invalid one, which is refused later. */
function urlOf(type: PublicServiceTarget['type'], given: unknown): string | null {
  return SERVICE_CHANNELS[type].config.shape.url.safeParse(given).data ?? null;
}
