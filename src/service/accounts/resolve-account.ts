import { VedetteError } from '../../runtime/errors.ts';
import type { Sql } from '../database/store.ts';
import { unstorableTexts } from '../http/resources/input-problems.ts';
import { findAccount, findAccountsByName, type StoredAccount } from './sql.ts';

const MAX_NAMED = 10;

/**
 * Finds an account by its id or its name. If the text is the id of one account and the name of another,
 * the id wins.
 *
 * @throws VedetteError `usage` where there is none, or several accounts have the name
 */
export async function resolveAccount(sql: Sql, idOrName: string): Promise<StoredAccount> {
  const isStorable = unstorableTexts(idOrName).length === 0;
  const byId = isStorable ? await findAccount(sql, idOrName) : null;
  return byId ?? (await resolveAccountByName(sql, idOrName));
}

/**
 * Finds the account with this name.
 *
 * @throws VedetteError `usage` where there is none, or several accounts have the name
 */
export async function resolveAccountByName(sql: Sql, name: string): Promise<StoredAccount> {
  const shown = JSON.stringify(name);
  const isStorable = unstorableTexts(name).length === 0;
  const limit = MAX_NAMED + 1;
  const found = isStorable ? await findAccountsByName(sql, { name, limit }) : [];
  const [first, second] = found;
  if (first === undefined) {
    throw refused(
      `there is no account with the id or the name ${shown}: vedette account list shows all`,
    );
  }
  if (second === undefined) return first;
  const ids = found.slice(0, MAX_NAMED).map(({ id }) => id);
  const more = found.length > MAX_NAMED ? ' and more' : '';
  throw refused(
    `several accounts have the name ${shown}: name one by its id (${ids.join(', ')}${more})`,
  );
}

function refused(message: string): VedetteError {
  return new VedetteError('usage', 'REFUSED', message);
}
