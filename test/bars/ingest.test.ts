// tier: bars
// Calls of 3.0 KB, 200 a request: CPU of a call until it can be read, against the frozen reference, and how soon that is.
import { it } from 'vitest'
import { measureIngest, measureVisible } from '../../scripts/bench/ingest.ts'
import { quantile } from '../../scripts/bench/process.ts'
import { bar } from '../fixtures/bar.ts'

it('20,000 calls, in turns; then calls at half of that rate', async () => {
  const { cpuOfReference, rateOfReference, rate } = await measureIngest(20_000, 5)
  bar('ingest/cpu', cpuOfReference)
  bar('ingest/rate', rateOfReference)
  bar('ingest/visible-p99', quantile(await measureVisible(rate / 2), 0.99))
}, 1_200_000)
