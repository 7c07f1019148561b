// Names of field values of payloads: the path of a value as one text, the same for the worker and the readers.

/** Longest text that the field index keeps, and longest path, in bytes. */
export const maxFieldValueBytes = 128
export const maxPathBytes = 256

/** Name of a rollup: how far the field index is derived. */
export const fieldIndexRollup = 'payload_leaves'

/** One segment below a path; a dot inside of a name is told from one between names. */
export const childPath = (path: string, segment: string): string =>
  `${path}.${segment.includes('.') || segment.includes('\\') ? segment.replace(/[\\.]/g, '\\$&') : segment}`
