// Wire shapes of queries and deletes of log records.
import { z } from 'zod'
import { intFrom, optional, text, withDefault } from './coerce.ts'
import { list } from './collections.ts'

const timestamp = z.union([z.string(), z.number()])

/** Most lines of one answer. */
export const maxLogLines = 1_000

const filter = {
  /** Records at or after `start` and before `end`: ISO 8601, or seconds since 1970. */
  start: timestamp,
  end: timestamp,
  trace_id: optional(text()),
  span_id: optional(text()),
  event_names: optional(list(text())),
  /** Severity number of OpenTelemetry, 1 to 24. */
  min_severity: optional(intFrom(0)),
  /** Text that the body or the value of an attribute holds. */
  contains: optional(text()),
}

const logsFilter = z.object(filter)

/** The selected records. */
export type LogsFilter = z.output<typeof logsFilter>

/** A member that is not known could mean fewer records. */
export const logsQueryRequest = z.strictObject({
  project_id: text(),
  ...filter,
  limit: withDefault(intFrom(1), maxLogLines),
  /** `cursor` of the last line of the page before. */
  after: optional(text()),
})

/** Selector of deletes: an ambiguous text could mean fewer records as well. */
export const logsSelector = z.strictObject({
  ...filter,
  trace_id: optional(text().min(1)),
  span_id: optional(text().min(1)),
  contains: optional(text().min(1)),
})

export const logsDeleteRequest = logsSelector.extend({ project_id: text() })

export const logsDeleteResponse = z.object({ num_deleted: z.int() })
