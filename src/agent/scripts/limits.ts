/** The limits of scripts: src/model/README.md, "Setup and teardown scripts". */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Time limit of one script. Waiting for a worker does not count. */
export const SCRIPT_LIMIT_MS = 10_000;
/** An attempt that waits longer for a worker does not count. */
export const MAX_WORKER_WAIT_MS = 30_000;
export const MEMORY_BYTES = 64 * MIB;
/** The stack of QuickJS; the stack of the WebAssembly module is larger. */
export const STACK_BYTES = 256 * KIB;
/** Maximum number of requests of one script by `fetch`. */
export const MAX_FETCHES = 10;
/** Maximum number of lines that one script writes into the job log. */
export const MAX_LOG_LINES = 50;
/** More than a job log shows, so that it can mask a secret before it cuts the line. */
export const MAX_LOG_CHARS = 10_000;
/** Maximum number of times that one script sets variables. */
export const MAX_SET_VARIABLES = 100;
/** Maximum length of all values together that one script sets. */
export const MAX_SET_CHARS = 50_000;
/** Maximum length of one message between script and host, as JSON. */
export const MAX_MESSAGE_CHARS = 8 * MIB;
/** Maximum number of headers, and of query parameters, of a request. */
export const MAX_PAIRS = 100;
/** Maximum length of a body that a script gets. */
export const MAX_BODY_CHARS = 1_000_000;
export const MAX_RANDOM_BYTES = 1024;
/** Maximum length of the script's own text in the message of a failed script. */
export const MAX_ERROR_CHARS = 1_000;
/** Maximum length of all credentials in the requests by `fetch` of an attempt's scripts. */
export const MAX_CREDENTIAL_CHARS = 100_000;
