import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { z } from 'zod';
import { MAX_PASSWORD_CHARS } from '../../model/account/password.ts';
import { unavailable } from '../errors.ts';

/** RFC 7914. The memory of one hash is 128 × r × 2^ln bytes, its time grows with p as well. */
export interface ScryptCost {
  /** The logarithm of N to the base 2. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** 32 MiB for each hash: OWASP, Password Storage Cheat Sheet. */
const COST: ScryptCost = { ln: 15, r: 8, p: 3 };
/** Memory for OpenSSL in addition to the blocks of the algorithm. */
const SPARE_BYTES = 64 * 1024;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** A hash occupies a thread for 0.2 s; the other threads are needed for files and the service. */
const MAX_AT_ONCE = Math.max(1, Math.min(2, availableParallelism() - 1));
/** Maximum number of waiting hashes: a few seconds of work. */
const MAX_WAITING = 20;
const RETRY_SECONDS = 5;

/** A password to check. Longer ones are refused without hashing. */
export const givenPassword = z
  .string()
  .max(4 * MAX_PASSWORD_CHARS)
  .describe('The password that the user has.');

export interface Passwords {
  /**
   * @returns scrypt in the PHC string format, with its parameters and salt
   * @throws ServiceError 503 where too many wait
   */
  hash(password: string): Promise<string>;
  /**
   * Takes the same time whether there is a hash or not.
   *
   * @param stored null for an unknown user, or one without a password
   * @returns `outdated`: right, and the password should be hashed again with the current parameters
   * @throws ServiceError 503 where too many wait
   */
  check(stored: string | null, password: string): Promise<'right' | 'outdated' | 'wrong'>;
}

/** Hashes few passwords at once, in threads of the pool. */
export function createPasswords(cost: ScryptCost = COST): Passwords {
  const queue = new PQueue({ concurrency: MAX_AT_ONCE });
  const derive = async (password: string, salt: Buffer, by: ScryptCost): Promise<Buffer> => {
    if (queue.size >= MAX_WAITING) {
      throw unavailable('Too many passwords are checked at once; try again', RETRY_SECONDS);
    }
    return await queue.add(() => scryptOf(password, salt, by));
  };
  const salt = randomBytes(SALT_BYTES);
  const nobody = textOf(cost, salt, randomBytes(HASH_BYTES));
  return {
    async hash(password) {
      const ownSalt = randomBytes(SALT_BYTES);
      return textOf(cost, ownSalt, await derive(password, ownSalt, cost));
    },

    async check(stored, password) {
      const known = partsOf(stored ?? nobody);
      const hash = await derive(password, known.salt, known.cost);
      if (!timingSafeEqual(hash, known.hash) || stored === null) return 'wrong';
      const { ln, r, p } = known.cost;
      return ln === cost.ln && r === cost.r && p === cost.p ? 'right' : 'outdated';
    },
  };
}

function scryptOf(password: string, salt: Buffer, { ln, r, p }: ScryptCost): Promise<Buffer> {
  const N = 2 ** ln;
  const options = { N, r, p, maxmem: 128 * r * (N + p) + SPARE_BYTES };
  return new Promise((resolve, reject) => {
    // Normalises the password, since the same text may have several encodings (NIST SP 800-63B, 3.1.1.2).
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, hash) => {
      if (error === null) resolve(hash);
      else reject(error);
    });
  });
}

function textOf({ ln, r, p }: ScryptCost, salt: Buffer, hash: Buffer): string {
  return `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

const STORED = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w-]+)\$([\w-]+)$/;

function partsOf(stored: string) {
  const found = STORED.exec(stored);
  if (found === null) throw new Error('a stored password hash is in an unknown form');
  const [, ln, r, p, salt = '', hash = ''] = found;
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  };
}
