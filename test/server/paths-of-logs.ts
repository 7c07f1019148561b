// Requests of the test of paths about log records.
export const loggedTrace = 'e'.repeat(32)
export const at = '2026-01-05T12:00:00Z'
const day = { start: at, end: '2026-01-06T12:00:00Z' }

/** @param image a text that is stored apart */
export function logsToSend(image: string) {
  const timeUnixNano = '1767614400000000000'
  const said = (stringValue: string) => ({ timeUnixNano, body: { stringValue } })
  const prompt = { timeUnixNano, eventName: 'codex.user_prompt' }
  const logRecords = [{ ...said(image), traceId: loggedTrace }, said('to be erased'), said('to be deleted'), prompt]
  return { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }
}

export const logsOfTrace = { ...day, trace_id: loggedTrace }
/** Those of a trace are hidden by then; the others go. */
export const logsToDelete = [logsOfTrace, { ...day, contains: 'to be deleted' }]
export const logsToErase = [{ trace_ids: [loggedTrace] }, { logs: { ...day, contains: 'to be erased' } }]
