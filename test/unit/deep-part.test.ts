// Failing files of the deep tier.
import { expect, it } from 'vitest'
import { runPart } from '../../scripts/tests/deep-part.ts'

const file = 'test/unit/x.test.ts'

/** Runs of vitest that end so, one after the other, and the words that each got. */
function vitest(...ends: { code: number; failed?: string[] }[]) {
  const words: string[][] = []
  const run = async (given: string[]) => {
    words.push(given)
    const { code, failed = [] } = ends[words.length - 1] as { code: number; failed?: string[] }
    return { code, failed, seconds: 1, passedTests: 2, failedTests: failed.length }
  }
  return { run, words }
}

it('a file that passes alone is flaky, and the part passes', async () => {
  const { run, words } = vitest({ code: 1, failed: [file] }, { code: 0 })
  expect(await runPart('property', run)).toMatchObject({
    passed: true,
    flaky: [file],
    failed: [],
    seconds: 2,
    tests: 3,
  })
  expect(words).toEqual([['--project=deep-property'], ['--project=deep-property', file]])
})

it('a file that fails alone too fails the part', async () => {
  const { run } = vitest({ code: 1, failed: [file] }, { code: 1, failed: [file] })
  expect(await runPart('property', run)).toMatchObject({ passed: false, flaky: [], failed: [file] })
})

it('a failure beside the files fails the part', async () => {
  expect(await runPart('slow', vitest({ code: 1 }).run)).toMatchObject({ passed: false, flaky: [], failed: [] })
  expect(await runPart('slow', vitest({ code: 0 }).run)).toMatchObject({ passed: true })
})
