// Bars of latencies beside each other: how long each is, on one scale.

/**
 * The latency of a whole bar: that of the 95th of 100 rows. By the greatest, one call of minutes would make all others dots
 * of one length; bars of calls that took longer are broken instead.
 */
export function latencyScale(latencies: readonly (number | null)[]): number {
  const known = latencies.filter((ms) => ms !== null).sort((a, b) => a - b)
  return Math.max(1, known[Math.floor(known.length * 0.95)] ?? 1)
}

/** The form of a bar, and its share of a whole one, 0 to 1. A call without a latency still runs. */
export const latencyBar = (ms: number | null, scaleMs: number): { form: '' | 'open' | 'broken'; share: number } =>
  ms === null ? { form: 'open', share: 1 } : { form: ms > scaleMs ? 'broken' : '', share: Math.min(1, ms / scaleMs) }
