/** The form of a variable's name. */
export const VARIABLE_KEY: RegExp = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The limit of a variable's name, in characters. */
export const MAX_KEY_CHARS = 255;
