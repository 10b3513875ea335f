import {
  all,
  array,
  boolean,
  date,
  dateAndTime,
  dateTime,
  number,
  object,
  oneOf,
  orNull,
  type Rule,
  required,
  string,
  type Table,
  withDefault,
} from './field-rules.ts';

export const COLORS = [
  'bodyBackgroundColor',
  'headerBackgroundColor',
  'headerFontColor',
  'titleFontColor',
  'bodyFontColor',
  'bodyFontColorMuted',
  'navigationFontColor',
  'linkFontColor',
  'cardBackgroundColor',
  'borderColor',
  'primaryButtonBackgroundColor',
  'primaryButtonFontColor',
];

export const STATUS_PAGE: Table = {
  section: '2.8',
  resource: 'status page',
  fields: {
    ...all(['name', 'url', 'id'], required(string)),
    description: orNull({ ...string, maxLength: 500 }),
    customDomain: orNull(string),
    themeColors: object({ light: object(all(COLORS, string)), dark: object(all(COLORS, string)) }),
    ...all(['logo', 'redirectTo', 'favicon'], orNull(string)),
    defaultTheme: withDefault('AUTO', oneOf('LIGHT', 'DARK', 'AUTO')),
    cards: array(
      object({
        ...all(['id', 'name'], string),
        ...all(['created_at', 'updated_at'], date),
        services: array(
          object({
            ...all(['name', 'id', 'accountId'], string),
            ...all(['created_at', 'updated_at'], date),
          }),
        ),
      }),
    ),
    whiteLabel: boolean,
    isPrivate: withDefault(false, boolean),
  },
};

const INCIDENT_UPDATE: Rule = object({
  id: string,
  status: oneOf('INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED'),
  ...all(['description', 'incidentId'], string),
  created_at: dateTime,
  updated_at: orNull(dateTime),
});

/** Names from the semantics, section 6. */
export const INCIDENT: Table = {
  section: '2.16',
  resource: 'incident',
  fields: {
    id: string,
    name: string,
    impact: oneOf('MAINTENANCE', 'MAJOR', 'MINOR'),
    dashboardId: number,
    ...all(['startedAt', 'stoppedAt'], dateAndTime),
    ...all(['created_at', 'updated_at'], dateTime),
    incidentUpdates: array(INCIDENT_UPDATE),
  },
};

export const STATUS_PAGE_INCIDENT: Table = {
  section: '2.16',
  resource: 'incident of a status page',
  fields: {
    id: string,
    name: string,
    severity: oneOf('CRITICAL', 'MAJOR', 'MEDIUM', 'MINOR'),
    ...all(['created_at', 'updated_at'], dateTime),
    incidentUpdates: array(INCIDENT_UPDATE),
  },
};
