import { type Adapter, jsonRequest } from './adapter.ts';
import { fitChars, markdownEscaped, plainTextOf, shortRows } from './message-texts.ts';

/** The service publishes no limits; these are those of similar services. */
const MAX_TITLE_CHARS = 250;
const MAX_DESCRIPTION_CHARS = 5000;
const MAX_VALUE_CHARS = 500;

/** incident.io: an event to an HTTP alert source, with the key of the problem. The description is Markdown. */
export const incidentIo: Adapter<'INCIDENT_IO'> = {
  type: 'INCIDENT_IO',
  request({ config, facts, key }) {
    const { action, severity, title, details, link, subject } = facts;
    return jsonRequest(
      new URL(config.url),
      {
        title: fitChars(title, MAX_TITLE_CHARS),
        status: action === 'resolve' ? 'resolved' : 'firing',
        deduplication_key: key,
        description: markdownEscaped(fitChars(plainTextOf(facts), MAX_DESCRIPTION_CHARS)),
        ...(link === null ? {} : { source_url: link }),
        metadata: {
          ...Object.fromEntries(shortRows(details, MAX_VALUE_CHARS)),
          severity,
          id: subject.id,
          kind: subject.kind,
          tags: subject.tags,
        },
      },
      { authorization: `Bearer ${config.token}` },
    );
  },
};
