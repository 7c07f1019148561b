// The port between the writers of calls and stored content: long texts that turn out to be files are replaced by refs.
import type { Position } from '../core/log/log.ts'

/** Strings of at most this many characters always stay inline (calls.md section 7). */
export const inlineTextLength = 8192

/**
 * The content found in one request. Writers offer every string longer than `inlineTextLength` in inputs and output,
 * write the refs in its place, and await `append` before they append the calls that hold those refs.
 */
export type Extraction = {
  /**
   * Decides at once: the ref that takes the place of `text`, or null when the text is no content or cannot be stored.
   * MUST NOT throw. The same text again answers the same ref and stores nothing more.
   */
  extract(projectId: string, userId: string, text: string): string | null
  /** Appends the files and then the objects behind the refs given so far; [] when there are none. */
  append(): Promise<Position[]>
}

export type ContentStore = {
  /** Starts the extraction of one request. */
  begin(): Extraction
}

/** Leaves every text inline. */
export const noContent: ContentStore = { begin: () => ({ extract: () => null, append: async () => [] }) }

const base64Bytes = new Uint8Array(256)
// A backslash may begin an escape of such a character.
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\\') base64Bytes[c.charCodeAt(0)] = 1

/** False when the first bytes of a long JSON string rule out both base64 and a data URI. */
export function mayBeContent(bytes: Uint8Array, start: number): boolean {
  const first = bytes[start] as number
  if ((first | 32) === 100 && ((bytes[start + 1] as number) | 32) === 97) return true
  if (first === 92) return true
  for (let i = start; i < start + 64; i++) if (base64Bytes[bytes[i] as number] !== 1) return false
  return true
}
