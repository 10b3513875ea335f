const MAX_ID_BYTES = 1024;

export function isWithinRecordLimits(id: string, bytes: number, maxBytes: number): boolean {
  return bytes <= maxBytes && Buffer.byteLength(id) <= MAX_ID_BYTES;
}
