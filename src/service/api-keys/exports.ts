/** The statements of this feature that other features run, and their types. */
export { findActiveApiKeyByHash, insertApiKey } from './sql.ts';
