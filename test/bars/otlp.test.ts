// tier: bars
// OTLP spans until they can be read, against the frozen reference: CPU of a span, and spans per second.
import { it } from 'vitest'
import { measureOtlp } from '../../scripts/bench/otlp.ts'
import { bar } from '../fixtures/bar.ts'

it('sixty batches of 512 spans, in turns', async () => {
  const { cpuOfReference, rateOfReference, markCompactsPer100 } = await measureOtlp(60 * 512, 5)
  bar('otlp/cpu', cpuOfReference)
  bar('otlp/rate', rateOfReference)
  bar('otlp/mark-compacts', markCompactsPer100)
}, 1_200_000)
