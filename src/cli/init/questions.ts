import { ALERT_CHANNEL_SHAPES } from '../../model/alerting/alert-channel.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { canAsk, openQuestions, type Questions } from '../ask.ts';
import { watchForInterruption } from '../interruption.ts';
import type { Terminal } from '../terminal.ts';
import { createTerminalLog } from '../terminal-log.ts';
import { PERIODS } from './periods.ts';
import { TARGET_FORMS, type Target, targetOf } from './target.ts';

/** The answers to the questions that options give; null to ask, or, without a terminal, for the default. */
export interface Given {
  readonly target: string | null;
  readonly every: string | null;
  readonly email: string | null;
}

const DEFAULT_PERIOD = '1';

/** The answers, from the user or from options. */
export interface Answers {
  readonly target: Target;
  readonly every: string;
  /** null for nobody. */
  readonly email: string | null;
}

/** @throws VedetteError of kind `usage` for an option that is not valid */
export function givenAnswers({ target, every, email }: Given): Partial<Answers> {
  const refuse = (option: string, value: string, allowed: string): VedetteError => {
    const message = `${option} must be ${allowed}, not ${JSON.stringify(value)}`;
    return new VedetteError('usage', 'INIT_ANSWER', message);
  };
  const found = target === null ? undefined : targetOf(target);
  if (found === null) throw refuse('--target', target ?? '', TARGET_FORMS);
  if (email !== null && !isEmail(email)) throw refuse('--email', email, EMAIL_FORM);
  return {
    ...(found === undefined ? {} : { target: found }),
    ...(every === null ? {} : { every }),
    ...(email === null ? {} : { email }),
  };
}

const EMAIL_FORM = 'an email address such as me@example.com';

function isEmail(address: string): boolean {
  return ALERT_CHANNEL_SHAPES.EMAIL.shape.config.safeParse({ address }).success;
}

export type Asked =
  | ({ readonly kind: 'answered' } & Answers)
  | { readonly kind: 'ended' }
  | { readonly kind: 'interrupted'; readonly exitCode: number };

/** Asks the questions that no option answers. Without a terminal, uses the defaults. */
export async function askedAnswers(
  given: Partial<Answers>,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<Asked> {
  const { target, every, email } = given;
  const isAllGiven = every !== undefined && email !== undefined;
  if (target !== undefined && (isAllGiven || !canAsk(terminal))) {
    return { kind: 'answered', target, every: every ?? DEFAULT_PERIOD, email: email ?? null };
  }
  const log = createTerminalLog(terminal, 'error');
  const interruption = watchForInterruption(terminal, log, exitNow);
  const questions = openQuestions(terminal, interruption.signal);
  const asking = { questions, stderr: terminal.stderr };
  try {
    const what = target ?? (await answerTo(asking, 'What to check', null, TARGET_FORMS, targetOf));
    const period =
      what === null
        ? null
        : (every ??
          (await answerTo(asking, 'Minutes between runs', DEFAULT_PERIOD, PERIOD_FORM, (text) =>
            PERIODS.includes(text) ? text : null,
          )));
    const address =
      period === null
        ? null
        : (email ??
          (await answerTo(asking, 'Email address for alerts', 'none', EMAIL_FORM, (text) =>
            text === 'none' || isEmail(text) ? text : null,
          )));
    if (interruption.exitCode !== null) {
      return { kind: 'interrupted', exitCode: interruption.exitCode };
    }
    if (what === null || period === null || address === null) return { kind: 'ended' };
    const alerted = address === 'none' ? null : address;
    return { kind: 'answered', target: what, every: period, email: alerted };
  } finally {
    questions.close();
    interruption.dispose();
  }
}

const PERIOD_FORM = `one of ${PERIODS.join(', ')}`;

/**
 * Asks until there is a valid answer.
 *
 * @param usual the default for an empty line; null if there is none
 * @param read parses an answer; returns null for an invalid one
 * @returns null at the end of the input, or when the signal aborts
 */
async function answerTo<Answer>(
  { questions, stderr }: { readonly questions: Questions } & Pick<Terminal, 'stderr'>,
  question: string,
  usual: string | null,
  allowed: string,
  read: (text: string) => Answer | null,
): Promise<Answer | null> {
  const shown = usual === null ? `${question} (${allowed}): ` : `${question} [${usual}]: `;
  for (;;) {
    const line = await questions.ask(shown);
    if (line === null) return null;
    const text = line.trim() === '' && usual !== null ? usual : line.trim();
    const answer = read(text);
    if (answer !== null) return answer;
    stderr.write(`It must be ${allowed}.\n`);
  }
}
