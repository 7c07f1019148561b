// Tells rows of finished calls that the column `billed_usage` is empty for: computing it costs more than all else of them.

/** The condition of the column (clickhouse/migrations/0045_billed_names.sql), over bytes instead of characters. */
const billed =
  /(?:[cC]ach|[tT]hought|[rR]easoning|ephemeral|[tT]ool_?[uU]se)\w*"\s*:\s*"?[1-9]|[gG]em(?:ini|ma)|:\s*-|\\/

const summaryLead = Buffer.from(',"summary":')
/** Longer summaries are not parsed: that would hold the event loop. */
const maxLookedAt = 2 ** 18
const dumpLead = Buffer.from(',"otel_dump":')

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * Whether the row's summary may hold something of which the column is made; true where it cannot be told.
 * @param text a row as the writer of calls writes it: payloads last, in the order of the columns
 */
export function mayBeBilled(text: Buffer): boolean {
  const at = text.indexOf(summaryLead)
  if (at === -1) return true
  const from = at + summaryLead.length
  // A client may use the name in its own JSON: the column is one of them.
  if (text.includes(summaryLead, from)) return true
  const dump = text.indexOf(dumpLead, from)
  const summary = text.toString('latin1', from, dump === -1 ? text.length - 1 : dump)
  return summary.length > maxLookedAt || billed.test(summary) || (dump !== -1 && !isJson(summary))
}
