// The port between the writers of calls and stored content: long texts that turn out to be files are replaced by refs.
import type { Position } from './log/log.ts'

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
