/** The statements of this feature that other features run, and their types. */
export { findActiveKeysByHash, KEY_COLUMNS, type StoredKey } from './keys.sql.ts';
export { findActiveApiKeyByHash, hasOtherAdminKey, insertApiKey } from './sql.ts';
