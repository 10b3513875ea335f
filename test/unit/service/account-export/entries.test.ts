import { expect, it } from 'vitest';
import { fileCheckOf } from '../../../../src/service/account-export/entries.ts';
import { checkOf } from '../../../support/samples/checks.ts';

it('an exported file has no check whose id a file cannot have', () => {
  const check = (id: string) => ({ ...checkOf('TCP', { id }) });
  expect(fileCheckOf(check('shop'))?.entry).toMatchObject({ id: 'shop', checkType: 'TCP' });
  expect(fileCheckOf(check('tcp'))).toBeNull();
});
