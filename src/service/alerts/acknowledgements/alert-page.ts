import { zonedTime } from '../../../model/account/time-zone.ts';
import { htmlEscaped } from '../../../runtime/text/html-escaped.ts';
import { buttonHtml, type Note } from '../../users/pages/page.ts';
import { headlineOf } from '../senders/headline.ts';
import { isTakenByChannel, type LinkedAlert } from './linked-alerts.ts';

interface PageParts {
  readonly title: string;
  readonly note: Note | null;
  /** HTML. */
  readonly main: string;
  readonly isWide: boolean;
}

/** Where the forms and links of the page lead. */
interface PagePaths {
  readonly acknowledge: string;
  readonly undo: string;
  /** The alert in the dashboard. */
  readonly alert: string;
}

/** An open alert, with a form that acknowledges it, or undoes the acknowledgement of the same channel. */
export function openAlertPage(linked: LinkedAlert, paths: PagePaths): PageParts {
  const { alert, timeZone } = linked;
  const { acknowledgement } = alert;
  return {
    title: acknowledgement === null ? 'Acknowledge the alert' : 'The alert is acknowledged',
    note:
      acknowledgement === null
        ? null
        : {
            kind: 'pass',
            text: `By ${acknowledgement.by.name}, ${zonedTime(acknowledgement.atMs, timeZone)}.`,
          },
    main: `${factsHtml(linked)}
${acknowledgement === null ? acknowledgeHtml(linked, paths) : ''}${isTakenByChannel(linked) ? undoHtml(paths) : ''}
<p><a href="${htmlEscaped(paths.alert)}">The alert in the dashboard</a></p>`,
    isWide: true,
  };
}

/** An alert that is not open any more. Shows nothing about it. */
export const CLOSED_PAGE: PageParts = {
  title: 'The alert is over',
  note: null,
  main: '<p>Its check has recovered, has a newer alert, or is deactivated. If there is a newer message, use the link in that one.</p>',
  isWide: false,
};

export const UNKNOWN_PAGE: PageParts = {
  title: 'This link leads to no alert',
  note: null,
  main: '<p>Check that the address is complete. Old alerts are deleted.</p>',
  isWide: false,
};

/** The response to a form that was refused. */
export function problemPage(text: string): PageParts {
  return {
    title: 'The alert was not changed',
    note: { kind: 'fail', text },
    main: '<p>Open the link in the message again.</p>',
    isWide: false,
  };
}

function factsHtml({ alert, timeZone }: LinkedAlert): string {
  const { name, alertType, checkId, checkType, runLocation, statusCode, error, createdAt } = alert;
  const check = { id: checkId, name, checkType, tags: [], groupName: null };
  const headline = headlineOf({
    alertType,
    check,
    error,
    statusCode,
    atMs: createdAt.getTime(),
    startedAtMs: alert.startedAt.getTime(),
    reminder: 0,
    sslDaysRemaining: null,
  });
  const rows: readonly (readonly [string, string | null])[] = [
    ['Check', `${name} (${checkType}, ${checkId})`],
    ['Alert', zonedTime(createdAt.getTime(), timeZone)],
    ['Location', runLocation],
    ['Status', statusCode],
    ['Error', error],
  ];
  const shown = rows.flatMap(([label, value]) =>
    value === null ? [] : [`<dt>${label}</dt><dd>${htmlEscaped(value)}</dd>`],
  );
  return `<p><strong>${htmlEscaped(headline)}</strong></p>
<dl>${shown.join('')}</dl>`;
}

function acknowledgeHtml({ by }: LinkedAlert, { acknowledge }: PagePaths): string {
  return `<p>Reminders stop, and everybody who was notified gets a message that ${htmlEscaped(by.name)} acknowledged the alert.</p>
<form method="post" action="${htmlEscaped(acknowledge)}">${buttonHtml('Acknowledge')}</form>
`;
}

function undoHtml({ undo }: PagePaths): string {
  return `<form method="post" action="${htmlEscaped(undo)}">${buttonHtml('Undo', false)}</form>
`;
}
