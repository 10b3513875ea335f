// For `node --import`: the first SIGTERM meets a fault in the agent's own code, which nobody catches.
const { abort } = AbortController.prototype;

AbortController.prototype.abort = function (...reason) {
  if (!new Error().stack?.includes('lifecycle.js')) return abort.apply(this, reason);
  AbortController.prototype.abort = abort;
  throw new TypeError('of https://user:planted@shop.example.com');
};
