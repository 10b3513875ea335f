import {
  inviteUserToService,
  resetPasswordInService,
} from '../../service/operator/database-commands.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { prepareService } from './service-command.ts';

export { addAccountCommand } from '../account/add-command.ts';
export { exportAccountCommand } from '../account/export-command.ts';
export { listAccountsCommand } from '../account/list-command.ts';
export { removeAccountCommand } from '../account/remove-command.ts';

const MAX_NAME_CHARS = 255;

/**
 * Invites a user, and prints the link.
 *
 * @throws VedetteError where a variable or the database is unusable, or the user cannot be invited
 */
export async function addUserCommand(
  given: Parameters<typeof inviteUserToService>[1],
  terminal: Terminal,
): Promise<number> {
  const prepared = prepareService(terminal);
  const { url, accountName, expiresAt } = await inviteUserToService(prepared, given);
  terminal.stdout.write(
    `${url}\nInvites ${given.email} to ${terminalSafe(accountName, MAX_NAME_CHARS)} with the role ${given.role}. The link works once, until ${expiresAt.toISOString()}.\n${guessNote(prepared)}`,
  );
  return EXIT.ok;
}

/**
 * Creates a link for a new password, and prints it.
 *
 * @throws VedetteError where a variable or the database is unusable, or no user has the email
 */
export async function resetPasswordCommand(email: string, terminal: Terminal): Promise<number> {
  const prepared = prepareService(terminal);
  const { url, expiresAt } = await resetPasswordInService(prepared, email);
  terminal.stdout.write(
    `${url}\nLets ${email} choose a new password. The link works once, until ${expiresAt.toISOString()}.\n${guessNote(prepared)}`,
  );
  return EXIT.ok;
}

/** Says that the address of a link is a guess; empty if PUBLIC_URL is set. */
function guessNote({ config }: ReturnType<typeof prepareService>): string {
  if (config.publicUrl !== null) return '';
  return 'The address in the link is a guess, because PUBLIC_URL is not set: set it to the address at which users reach the service.\n';
}
