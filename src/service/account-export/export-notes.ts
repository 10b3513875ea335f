import { PLACEHOLDER } from './placeholders.ts';

const MAX_NAMED = 20;

/** What the exported file omits, and what its user must do about it. Notes are printed in this order. */
const TEXTS = {
  secretVariable: (names: string) =>
    `The values of secret variables (replaced by ${PLACEHOLDER}): ${names}`,
  checkSecret: (names: string) =>
    `Credentials and secret variables of checks (replaced by ${PLACEHOLDER}): ${names}`,
  channelSecret: (names: string) =>
    `Secrets of alert channels (tokens, keys, passwords, and locked values of webhooks; replaced by ${PLACEHOLDER}): ${names}`,
  lockedVariable: (names: string) =>
    `Which variables are locked (the file contains their values; lock them again): ${names}`,
  location: (names: string) =>
    `Private locations with their proxies and keys (create them first, with these slugs): ${names}`,
  certificate: (names: string) => `Client certificates, of the hosts ${names}`,
  snippet: (names: string) =>
    `Snippets (their scripts are copied into the checks and groups that run them): ${names}`,
  script: (names: string) => `Scripts of snippets that do not exist any more, of ${names}`,
  heartbeat: (names: string) =>
    `Ping URLs of heartbeats (each gets a new one, which its job has to call): ${names}`,
  pagePassword: (names: string) => `Passwords of status pages: ${names}`,
  escalation: (names: string) => `Channels of the escalation that the file does not have: ${names}`,
  trigger: (names: string) =>
    `The incidents that these checks open, since the service of a status page does not exist any more: ${names}`,
  invalid: (names: string) =>
    `Entries that this release does not accept as they are stored: ${names}`,
} as const;
type NoteKind = keyof typeof TEXTS;

/** What an exported file never contains. */
const ALWAYS: readonly string[] = [
  'The name, the time zone and the alert settings of the account, except its escalation',
  'Users, invitations, API keys and the audit log',
  'Results, statuses, alerts, artifacts, analyses, test sessions, incidents, and subscribers of status pages',
];

/** Collects what an exported file does not contain. */
export class ExportNotes {
  readonly #names = new Map<NoteKind, string[]>();

  add(kind: NoteKind, name: string): void {
    const names = this.#names.get(kind);
    if (names === undefined) this.#names.set(kind, [name]);
    else names.push(name);
  }

  /** One sentence each. Includes names exactly as users entered them. */
  lines(): readonly string[] {
    const kinds = Object.keys(TEXTS) as NoteKind[];
    const special = kinds.flatMap((kind) => {
      const names = this.#names.get(kind);
      return names === undefined ? [] : [TEXTS[kind](named(names))];
    });
    return [...special, ...ALWAYS];
  }
}

function named(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return names.toSorted().slice(0, MAX_NAMED).join(', ') + more;
}
