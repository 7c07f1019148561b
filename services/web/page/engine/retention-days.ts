// Days for which a project keeps its calls once its settings are others.
type Days = number | null

/** Days as they are asked for: null = forever, without any those of the server count. */
export type AskedDays = { calls_days?: Days | undefined; payloads_days?: Days | undefined }
export type KeptDays = { calls_days: Days; payloads_days: Days }

const isShorter = (days: Days, than: Days): days is number => days !== null && (than === null || days < than)

/** The days that count then, as the server has it: payloads go with their calls at the latest. */
export function daysAfter(asked: AskedDays, defaults: { calls_days: Days }): KeptDays {
  const calls_days = asked.calls_days === undefined ? defaults.calls_days : asked.calls_days
  return { calls_days, payloads_days: asked.payloads_days ?? calls_days }
}

/** The days beyond which a change hides what is seen now; of payloads only where their calls stay. */
export function newlyHidden(next: KeptDays, now: KeptDays): { calls?: number; payloads?: number } {
  const { calls_days: calls, payloads_days: payloads } = next
  return {
    ...(isShorter(calls, now.calls_days) && { calls }),
    ...(isShorter(payloads, now.payloads_days) && isShorter(payloads, calls) && { payloads }),
  }
}
