/** The name that the service puts in a template in the place of a credential that it cannot decrypt. */
export const NOT_READABLE_NAME = 'CREDENTIAL_NOT_READABLE';

/** Agents of before know of no such variable either, and send nothing. */
export const NOT_READABLE = `{{${NOT_READABLE_NAME}}}`;
