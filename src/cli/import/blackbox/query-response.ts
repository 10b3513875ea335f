import type { RawMapping } from '../../../agent/source/common/raw-mapping.ts';
import type { StartTlsProtocol } from '../../../model/check/request/tcp.ts';
import { isTrue, listOf, mappingOf, reportOthers, textOf } from '../common/fields.ts';
import { seemsSecret } from '../common/import-variables.ts';
import { lineInText, patternFromGo } from '../common/patterns.ts';
import { below } from '../common/source-file.ts';
import type { ModuleContext } from './module-parts.ts';

/** One of the `steps` of a TCP check. */
interface Step {
  send: string | null;
  expect: string | null;
  readonly format: 'TEXT' | 'HEX';
}

export interface Conversation {
  readonly steps: readonly object[];
  readonly startTlsProtocol: StartTlsProtocol | null;
}

/** Protocols by the data that a probe sends or expects before TLS begins. */
const UPGRADES: readonly (readonly [RegExp, StartTlsProtocol])[] = [
  [/\b(?:EHLO|HELO|LHLO)\b|ESMTP/i, 'SMTP'],
  [/AUTH TLS/i, 'FTP'],
  [/\bSTLS\b/i, 'POP3'],
  [/jabber|xmpp/i, 'XMPP'],
  [/\bSTARTTLS\b/i, 'IMAP'],
  // SSLRequest (PostgreSQL, "Message Formats").
  [/0000000804d2162f/, 'POSTGRESQL'],
];

const NOT_DONE = 'so the module makes no checks';

/**
 * Translates the steps of `query_response`. There, a step first expects and then sends; in a check it is the other
 * way round. The steps before `starttls` are the upgrade, which the check does itself.
 *
 * @returns null if the conversation cannot be translated, which is reported
 */
export function readConversation(section: RawMapping, context: ModuleContext): Conversation | null {
  const { name, origin, draft } = context;
  const { report, variables } = draft;
  let steps: Step[] = [];
  let startTlsProtocol: StartTlsProtocol | null = null;
  for (const [index, raw] of listOf(section.query_response).entries()) {
    const at = below(origin, 'query_response', index);
    const given = mappingOf(raw);
    reportOthers(given, at, report, {
      handled: ['expect', 'expect_bytes', 'send', 'starttls'],
      reasons: { labels: ['results have no labels', 'the job log shows what arrived'] },
    });
    const expect = textOf(given.expect);
    if (expect !== null && expect !== '') {
      const pattern = patternFromGo(expect);
      if (pattern === null) {
        const [why, advice] = /^\^[+*]/.test(expect)
          ? ['its pattern repeats ^ instead of matching a + or *', 'write \\+ or \\* there']
          : [
              'the regular expression has no translation to the syntax of steps, JavaScript',
              'write the check by hand',
            ];
        report.leftOut(at, `${why}, ${NOT_DONE}`, advice);
        return null;
      }
      expectIn(steps, lineInText(pattern), 'TEXT');
    }
    const expectBytes = bytesOf(given.expect_bytes);
    if (expectBytes !== null) expectIn(steps, hexOf(expectBytes), 'HEX');
    const send = bytesOf(given.send);
    if (send !== null) {
      if (typeof given.send === 'string' && /\$(?:\d|\{)/.test(given.send)) {
        report.leftOut(
          at,
          `steps cannot send what arrived before, ${NOT_DONE}`,
          'write the check by hand',
        );
        return null;
      }
      const step = sendStep(given.send, (text) => variables.text(text, `${name}_SEND`));
      // Variables cannot contain bytes.
      if (step.format === 'HEX' && seemsSecret(send.toString('latin1'))) {
        const why = `the bytes that it sends seem to contain a secret, ${NOT_DONE}`;
        report.leftOut(at, why, 'write the check by hand');
        return null;
      }
      steps.push(step);
    }
    if (isTrue(given.starttls)) {
      const said = steps.map((step) => `${step.expect ?? ''} ${step.send ?? ''}`).join('\n');
      startTlsProtocol = UPGRADES.find(([sign]) => sign.test(said))?.[1] ?? null;
      if (startTlsProtocol === null) {
        const why = 'the protocol of the upgrade to TLS is not recognised';
        report.leftOut(at, `${why}, ${NOT_DONE}`, 'set startTlsProtocol by hand');
        return null;
      }
      if (steps.some((step) => step.format === 'TEXT' && step.expect !== null)) {
        const own = `the check makes the upgrade to TLS of ${startTlsProtocol} itself (startTlsProtocol)`;
        report.changed(at, `${own}, without the expectations before it`);
      }
      steps = [];
    }
  }
  return { steps: steps.map(shortStep), startTlsProtocol };
}

/** Adds the expectation to the last step if that has none and has the same format; otherwise adds a step. */
function expectIn(steps: Step[], expect: string, format: Step['format']): void {
  const last = steps.at(-1);
  if (last === undefined || last.expect !== null || last.format !== format) {
    steps.push({ send: null, expect, format });
  } else last.expect = expect;
}

/** The exporter appends a line feed to everything it sends, including bytes. */
function sendStep(send: unknown, withoutSecrets: (text: string) => string): Step {
  const text = textOf(send);
  if (text !== null && !hasControlCharacters(text)) {
    return { send: `${withoutSecrets(text)}\n`, expect: null, format: 'TEXT' };
  }
  const bytes = bytesOf(send) ?? Buffer.alloc(0);
  return { send: hexOf(Buffer.concat([bytes, Buffer.from('\n')])), expect: null, format: 'HEX' };
}

function hasControlCharacters(text: string): boolean {
  return /[^\P{Cc}\t\r\n]/u.test(text);
}

/** null for nothing. */
function bytesOf(value: unknown): Buffer | null {
  const bytes = value instanceof Uint8Array ? Buffer.from(value) : Buffer.from(textOf(value) ?? '');
  return bytes.length === 0 ? null : bytes;
}

function hexOf(bytes: Buffer): string {
  return bytes.toString('hex');
}

function shortStep({ send, expect, format }: Step): object {
  return {
    ...(send === null ? {} : { send }),
    ...(expect === null ? {} : { expect }),
    ...(format === 'TEXT' ? {} : { format }),
  };
}
