// One look for due log records, and its results.

/** The scope of one look: records of projects of some hash slots, none = all; `isPrompt` = calls wait for them. */
export type Look = { seconds: number; slots: readonly number[]; isPrompt: boolean }

/** Calls that events became part of, feedback that they became, events beyond the bound of a span, calls that lie below a prompt now. */
export type JoinedCounts = { calls: number; feedback: number; beyond: number; turns: number }

/** A span by its ids, or an evaluation by the id of its record. */
export type Done = {
  project: string
  trace: string
  span: string
  log: string
  base: string
  clock: string
  events: number
}

/** Notes what was joined, once it is in the log. */
export type KeepJoined = (done: readonly Done[]) => Promise<void>
