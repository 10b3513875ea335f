/** Of the model, since the service masks by the same names. */
export { isSensitiveHeader, MASK, maskHeaders } from '../../model/credentials/sensitive-headers.ts';
