import type { ServiceConfigs } from '../../../../model/alerting/service-targets.ts';
import type { MessageFacts } from '../message-facts.ts';
import { type Adapter, endpointOf, jsonRequest } from './adapter.ts';
import { fitChars, plainTextOf, shortRows } from './message-texts.ts';

/** Published. */
const MAX_MESSAGE_CHARS = 130;
const MAX_DESCRIPTION_CHARS = 15_000;
const MAX_ENTITY_CHARS = 512;
const MAX_TAGS = 20;
const MAX_TAG_CHARS = 50;
const MAX_NOTE_CHARS = 25_000;
/** Published: 8000 characters for all details. */
const MAX_VALUE_CHARS = 400;

const SOURCE = 'Vedette';
const LOWER = { P1: 'P2', P2: 'P3', P3: 'P4', P4: 'P5', P5: 'P5' } as const;

/** Opsgenie: creates an alert, acknowledges it, or closes it. The alias is the key of the problem. */
export const opsgenie: Adapter<'OPSGENIE'> = {
  type: 'OPSGENIE',
  request({ config, facts, key }) {
    const headers = { authorization: `GenieKey ${config.apiKey}` };
    if (facts.action !== 'trigger') {
      const action = facts.action === 'resolve' ? 'close' : 'acknowledge';
      const url = endpointOf(config.url, `v2/alerts/${encodeURIComponent(key)}/${action}`);
      url.searchParams.set('identifierType', 'alias');
      const note = fitChars(`${facts.headline}\n${plainTextOf(facts)}`, MAX_NOTE_CHARS);
      return jsonRequest(url, { source: SOURCE, note }, headers);
    }
    return jsonRequest(endpointOf(config.url, 'v2/alerts'), alertOf(facts, key, config), headers);
  },
};

function alertOf(
  facts: MessageFacts,
  key: string,
  { priority }: ServiceConfigs['OPSGENIE'],
): object {
  const { headline, title, severity, details, link, subject } = facts;
  return {
    message: fitChars(title, MAX_MESSAGE_CHARS),
    alias: key,
    description: fitChars(
      `${headline}\n${plainTextOf(facts)}${link === null ? '' : `\n${link}`}`,
      MAX_DESCRIPTION_CHARS,
    ),
    priority: severity === 'critical' ? priority : LOWER[priority],
    source: SOURCE,
    entity: fitChars(subject.name, MAX_ENTITY_CHARS),
    tags: subject.tags.slice(0, MAX_TAGS).map((tag) => fitChars(tag, MAX_TAG_CHARS)),
    details: {
      ...Object.fromEntries(shortRows(details, MAX_VALUE_CHARS)),
      ...(link === null ? {} : { Details: link }),
    },
  };
}
