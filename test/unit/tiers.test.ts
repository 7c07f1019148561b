// First lines of test files, and the rules that `npm run check` holds tests to.
import { describe, expect, it } from 'vitest'
import { ruleFaults } from '../../scripts/tests/rules.ts'
import { headerOf, tierFaults } from '../../scripts/tests/tiers.ts'

const file = 'test/server/x.test.ts'
const purpose = '// What it is for.\n'

describe('the first lines of a test file', () => {
  it.each([
    ['', { tier: 'test', again: [] }],
    ['// tier: deep crash\n', { tier: 'deep', part: 'crash', again: [] }],
    ['// tier: deep slow\n// again: kafka\n', { tier: 'deep', part: 'slow', again: ['kafka'] }],
    ['// again: property kafka\n', { tier: 'test', again: ['property', 'kafka'] }],
    ['// smoke: kill -9\n', { tier: 'test', smoke: 'kill -9' }],
  ])('%j', (header, said) => {
    expect(headerOf(file, `${header}${purpose}import 'x'\n`)).toMatchObject({ ...said, faults: [] })
  })

  it.each([
    ['// tier: nightly\n', "the tier 'nightly' is none of test, deep <part>, bars"],
    ['// tier: deep forever\n', "the part 'forever' of the deep tier is none of property, crash"],
    ['// tier: deep\n', "the part '' of the deep tier is none of"],
    ['// tier: deep crash\n// tier: test\n', "has two lines '// tier:'"],
    ['// What.\n// tier: deep crash\n', 'says its tier after the first line'],
    ['// again: browser\n', "is to run again in 'browser', which is none of property, kafka"],
    ['// tier: deep kafka\n// again: kafka\n', 'is to run again in its own part, kafka'],
    ['// smoke: ruby\n', "the smoke 'ruby' is none of python"],
    ['// tier: deep compat\n// smoke: python\n', 'a smoke is for every change'],
    ['// tier: bars\n', 'bars, and nothing else, lie in test/bars'],
  ])('%j is refused', (header, fault) => {
    expect(tierFaults([headerOf(file, `${header}${purpose}`)]).join('\n')).toContain(`${file}: `)
    expect(tierFaults([headerOf(file, `${header}${purpose}`)]).join('\n')).toContain(fault)
  })

  it('of later comments say nothing', () => {
    expect(headerOf(file, `${purpose}import 'x'\n// tier: deep crash\n`)).toMatchObject({ tier: 'test', faults: [] })
  })

  it('let no smoke grow', () => {
    const two = ['a', 'b'].map((name) => headerOf(`test/server/${name}.test.ts`, '// smoke: kafka\n'))
    expect(tierFaults(two)).toEqual([expect.stringContaining("2 files are the smoke 'kafka', at most 1 may be")])
  })
})

describe('the text of a test', () => {
  const faultsOf = (text: string, header = '') => ruleFaults([{ file, text }], [headerOf(file, header)])
  // In two pieces, since these rules are held against this file, too.
  const refused = [
    ['await expect.', 'poll(() => 1).toBe(1)'],
    ['await vi.', 'waitFor(() => one())'],
    ['const port = await free', 'Port()'],
    ['process.', "env.CALLHOUSE_KEYS = 'x'"],
    ['delete process', '.env.CALLHOUSE_KEYS'],
    ['it(name, { re', 'try: 2 }, run)'],
    ['expect(performance', '.now() - began).toBeLessThan(500)'],
    ['const tookMs = Date', '.now() - began\nexpect(tookMs).toBeLessThan(500)'],
    ['vi.use', 'FakeTimers()'],
    ['await startChild', 'Server(dir)'],
  ]
  it.each(refused.map((pieces) => pieces.join('')))('%j is refused', (text) => {
    expect(faultsOf(text)).toHaveLength(1)
  })

  it.each([
    'await eventually(() => one())',
    "vi.stubEnv('CALLHOUSE_KEYS', 'x')",
    'expect(clock.now() - began).toBeLessThan(500)',
    'expect(Date.now() - began).toBeGreaterThan(500)',
    "const answer = { 'retry-after': 2 }",
  ])('%j is allowed', (text) => {
    expect(faultsOf(text)).toEqual([])
  })

  it('may start processes where the file is a smoke test or of the deep tier', () => {
    const starts = ['await startChild', 'Server(dir)'].join('')
    expect(faultsOf(starts, '// tier: deep crash\n')).toEqual([])
    expect(faultsOf(starts, '// smoke: kill -9\n')).toEqual([])
  })
})
