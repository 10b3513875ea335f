/**
 * @peculiar/x509 refuses to load without the metadata part of the Reflect API, which it uses
 * only look-ups that may find nothing. Import this file before it.
 */
const lookUps = {
  getMetadata: (): undefined => undefined,
  getOwnMetadata: (): undefined => undefined,
  defineMetadata: (): void => {},
};

if (!('getMetadata' in Reflect)) Object.assign(Reflect, lookUps);
