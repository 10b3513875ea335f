import { VedetteError } from '../../runtime/errors.ts';
import type { AccountContents } from '../../service/account-removal/remove-account.ts';
import {
  type RemovedAccount,
  removeAccountFromService,
} from '../../service/operator/account-commands.ts';
import { ask, canAsk } from '../ask.ts';
import { prepareService } from '../commands/service-command.ts';
import { watchForInterruption } from '../interruption.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { RemovalProgress } from './removal-progress.ts';
import { countsText, nameAndId, removalText } from './removal-text.ts';

interface RemoveOptions {
  /** The name of the account, which skips the question; null to ask. */
  readonly yes: string | null;
  /** Leaves the contents of artifacts in their store. */
  readonly keepContents: boolean;
}

/**
 * Prints what an account contains, asks for its name, and deletes it with everything in it.
 *
 * @returns EXIT.ok, EXIT.unusable where the name was not given, or what interrupted it
 * @throws VedetteError where a variable or the database is unusable, the account cannot be removed, or
 *   there is nobody to ask
 */
export async function removeAccountCommand(
  idOrName: string,
  { yes, keepContents }: RemoveOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  const { stdout, stderr } = terminal;
  const parts = prepareService(terminal);
  if (yes === null && !canAsk(terminal)) {
    throw new VedetteError(
      'usage',
      'REFUSED',
      'there is no terminal on which to ask for the name of the account: give --yes NAME',
    );
  }
  const interruption = watchForInterruption(terminal, parts.log, exitNow);
  const progress = new RemovalProgress(terminal);
  let shown = '';
  const confirm = async (account: RemovedAccount, contents: AccountContents): Promise<boolean> => {
    shown = nameAndId(account);
    stderr.write(removalText(account, contents));
    const question = 'Type the name of the account to delete it: ';
    const typed = yes ?? (await ask(terminal, question, interruption.signal));
    return typed === account.name && !interruption.signal.aborted;
  };
  try {
    const removal = await removeAccountFromService(parts, {
      idOrName,
      keepsContents: keepContents,
      confirm,
      onProgress: (removed) => progress.show(removed),
      signal: interruption.signal,
    });
    progress.clear();
    if (removal === null) {
      if (interruption.exitCode !== null) return interruption.exitCode;
      const given = yes === null ? 'the entered text' : '--yes';
      stderr.write(`vedette: ${given} is not the name of the account: nothing was deleted\n`);
      return EXIT.unusable;
    }
    const deleted = countsText(removal.removed);
    if (!removal.isDone) {
      stderr.write(
        `vedette: interrupted: deleted ${deleted} of ${shown}. The account can no longer be used; run the command again to delete the rest.\n`,
      );
      return interruption.exitCode ?? EXIT.interrupted;
    }
    stdout.write(`deleted the account ${shown}: ${deleted}\n`);
    return EXIT.ok;
  } catch (thrown) {
    progress.clear();
    if (interruption.exitCode !== null && interruption.signal.aborted) return interruption.exitCode;
    throw thrown;
  } finally {
    interruption.dispose();
  }
}
