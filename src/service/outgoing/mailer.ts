import { createTransport } from 'nodemailer';
import { systemCodeOf } from '../../runtime/errors.ts';
import type { Smtp } from './outgoing-config.ts';
import { notSent, type SendOutcome } from './send-outcome.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const SOCKET_TIMEOUT_MS = 10_000;
/** RFC 5321 4.2.1: a permanent failure. */
const PERMANENT = 500;
/** The commands whose answer may be about the recipient. */
const RECIPIENT_COMMANDS = ['RCPT TO', 'DATA'];
/** RFC 5321 4.2.3, RFC 4954 6: the server is busy, does not know the command or wants another login. */
const SERVER_CODES = [421, 451, 452, 454, 455, 500, 502, 503, 504, 530, 534, 535, 538];
/** RFC 3463 3: the mail system, the network, the protocol, and policy, such as a relay that denies us. */
const SERVER_SUBJECTS = ['3', '4', '5', '7'];
/** RFC 5321 4.2.3. Used for an answer whose code cannot be read. */
const ACCEPTED = 250;

/** A mail to one address. */
export interface Mail {
  /** Every attempt has the same id. */
  readonly deliveryId: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Further ones, on one line each. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type MailOutcome = SendOutcome & {
  /** Whether the mail server refuses this recipient permanently. */
  readonly refusesAddress: boolean;
  /** Whether the failure concerns this recipient. Otherwise every mail fails, whatever the address. */
  readonly isOfRecipient: boolean;
};

/** Never rejects; resolves at the latest when the signal aborts. */
export type SendMail = (mail: Mail, signal: AbortSignal) => Promise<MailOutcome>;

export interface Mailer {
  readonly send: SendMail;
  /** Closes all connections, including those that are sending. */
  close(): void;
}

/** Maximum number of mails on a connection: mail servers often close one after about 100. */
const MAX_MAILS = 100;
/** Shorter than SOCKET_TIMEOUT_MS, so that idle connections end with QUIT. */
const IDLE_MS = 5_000;
/** A mail is sent again once, because the mail server may have closed an idle connection. */
const MAX_REQUEUES = 1;

/** Opens one connection for each mail; with `maxConnections`, pools that many connections. */
export function createMailer(
  { host, port, secure, auth, requireTls, from }: Smtp,
  { maxConnections }: { readonly maxConnections?: number } = {},
): Mailer {
  const options = {
    host,
    port,
    secure,
    requireTLS: requireTls,
    ...(auth === null ? {} : { auth }),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    // The content of a notice must not make the service read a file or a URL.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const pool =
    maxConnections === undefined
      ? null
      : createTransport({
          ...options,
          pool: true,
          maxConnections,
          maxMessages: MAX_MAILS,
          maxRequeues: MAX_REQUEUES,
          idleTimeout: IDLE_MS,
        });
  const transport = pool ?? createTransport(options);
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  const send: SendMail = async ({ deliveryId, to, headers, ...content }, signal) => {
    try {
      const sent = await transport.sendMail({
        from,
        to: { name: '', address: to },
        messageId: `<${deliveryId}@${domain}>`,
        headers: {
          // RFC 3834 5: prevents automatic replies.
          'Auto-Submitted': 'auto-generated',
          'X-Service-Delivery': deliveryId,
          ...headers,
        },
        signal,
        ...content,
      });
      const code = /^\d{3}/.exec(sent.response)?.[0];
      const status = code === undefined ? ACCEPTED : Number(code);
      const { response: answer } = sent;
      return { ok: true, status, remark: null, answer, ...NOT_OF_RECIPIENT };
    } catch (thrown) {
      return { ...failureOf(thrown, signal), ...recipientFailureOf(thrown) };
    }
  };
  return { send, close: () => pool?.close({ force: true }) };
}

type RecipientFailure = Pick<MailOutcome, 'refusesAddress' | 'isOfRecipient'>;

const NOT_OF_RECIPIENT: RecipientFailure = { refusesAddress: false, isOfRecipient: false };

function recipientFailureOf(thrown: unknown): RecipientFailure {
  const { responseCode, response, command } = thrown as {
    readonly responseCode?: unknown;
    readonly response?: unknown;
    readonly command?: unknown;
  };
  if (typeof responseCode !== 'number' || !RECIPIENT_COMMANDS.includes(String(command))) {
    return NOT_OF_RECIPIENT;
  }
  const subject = /^\d{3}[ -]\d\.(\d{1,3})\.\d{1,3}\b/.exec(String(response))?.[1];
  if (SERVER_CODES.includes(responseCode) || SERVER_SUBJECTS.includes(subject ?? '')) {
    return NOT_OF_RECIPIENT;
  }
  const refusesAddress = command === 'RCPT TO' && responseCode >= PERMANENT;
  return { refusesAddress, isOfRecipient: true };
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNECTION: 'the mail server cannot be reached',
  ETIMEDOUT: 'the mail server did not answer in time',
  ESOCKET: 'the connection to the mail server broke',
  EDNS: 'the name of the mail server could not be looked up',
  ETLS: 'the mail server does not support the required encryption',
  EAUTH: 'the mail server rejects the user or password of SMTP_URL',
  EENVELOPE: 'the mail server rejects the address',
  EMESSAGE: 'the mail server rejects the mail',
};

function failureOf(thrown: unknown, signal: AbortSignal): SendOutcome {
  if (signal.aborted) return notSent('the mail server did not answer in time');
  const code = systemCodeOf(thrown);
  const reason = REASONS[code ?? ''] ?? 'the mail could not be sent';
  const { responseCode, response } = thrown as {
    readonly responseCode?: unknown;
    readonly response?: unknown;
  };
  return {
    ok: false,
    status: typeof responseCode === 'number' ? responseCode : null,
    error: code === null ? reason : `${reason} (${code})`,
    answer: typeof response === 'string' ? response : null,
    isFinal: false,
    retryAfterMs: null,
  };
}
