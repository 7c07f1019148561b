// The limit of open files of the process, and the share of it for connections.
import { readFileSync } from 'node:fs'

/** Node raises the soft limit to the hard one when it starts; null where the system does not say. */
export function openFilesLimit(read = () => readFileSync('/proc/self/limits', 'utf8')): number | null {
  try {
    const found = /^Max open files\s+(\d+|unlimited)/m.exec(read())
    return found === null ? null : found[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(found[1])
  } catch {
    return null
  }
}

/** Limit of systems that report none: they usually allow at least so many. */
const usualLimit = 1_024
/** Segments, spares, parts of tables that are written, read and merged: of an embedded engine a few hundred at a time. */
const ownFiles = 1_024
/** Each takes memory as well. */
const mostConnections = 10_000

/** Below this a busy server runs short of files for its tables, or of connections. */
export const enoughFiles = 4_096

/** Half of what log and engine leave; of a small limit a quarter. */
export function connectionsFor(limit: number | null): number {
  const files = limit ?? usualLimit
  return Math.min(mostConnections, Math.floor(Math.max(files / 4, (files - ownFiles) / 2)))
}
