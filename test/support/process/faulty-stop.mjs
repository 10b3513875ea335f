// For `node --import`: the first SIGTERM causes an uncaught exception in the agent's own code.
const { abort } = AbortController.prototype;

AbortController.prototype.abort = function (...reason) {
  if (!new Error().stack?.includes('lifecycle.js')) return abort.apply(this, reason);
  AbortController.prototype.abort = abort;
  throw new TypeError('of https://user:planted@shop.example.com');
};
