// How leaf values of payloads are named: the path of a leaf as one text, the same for the worker and the readers.

/** Longest text that is kept as a leaf, and longest path, in bytes. */
export const maxFieldValueBytes = 128
export const maxPathBytes = 256

/** Name of a rollup: how far the leaves are derived. */
export const fieldIndexRollup = 'payload_leaves'

/** One segment below a path; a dot inside of a name is told from one between names. */
export const childPath = (path: string, segment: string): string =>
  `${path}.${segment.includes('.') || segment.includes('\\') ? segment.replace(/[\\.]/g, '\\$&') : segment}`
