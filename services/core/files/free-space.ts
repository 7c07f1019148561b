// The part of a disk that stays free: a share of it, up to the most that the server can ever need.

const gib = 2 ** 30

/** A twentieth, but no more than this: the unapplied log, a batch and small merges fit into it many times. */
const maxKeptBytes = 16 * gib
/** A merge writes up to 150 GiB beside what it reads, and two run at a time. */
const maxRoomBytes = 320 * gib

/** Below so much free space writes are refused. @param minFreeBytes of the settings */
export const requiredFreeBytes = (totalBytes: number, minFreeBytes: number): number =>
  Math.max(minFreeBytes, Math.min(totalBytes * 0.05, maxKeptBytes))

/** Below so much free space an operator should make room. */
export const comfortableFreeBytes = (totalBytes: number, minFreeBytes: number): number =>
  Math.max(3 * requiredFreeBytes(totalBytes, minFreeBytes), Math.min(totalBytes * 0.15, maxRoomBytes))
