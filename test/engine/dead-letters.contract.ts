// The contract of every driver of dead letters; each driver's test runs this suite with a way to open its own.
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import type { DeadLetters } from '../../services/worker/dead-letters/dead-letters.ts'
import { expectSoon } from '../fixtures/eventually.ts'

/** Opens the same letters each time. */
export type Reopen = () => Promise<DeadLetters>

const found = (more: Partial<Parameters<DeadLetters['add']>[0]> = {}) => ({
  topic: 'calls',
  partition: 3,
  offset: 12,
  rowIndex: 4,
  reason: 'Cannot parse input',
  row: '{"id":"a"}',
  ...more,
})
const placesOf = async (letters: DeadLetters) =>
  (await letters.list()).map(({ topic, partition, offset, rowIndex }) => `${topic} ${partition} ${offset} ${rowIndex}`)

export function deadLettersContract(create: () => Promise<Reopen>): void {
  async function openTwice(): Promise<{ first: DeadLetters; again(): Promise<DeadLetters> }> {
    const open = await create()
    let last = await open()
    onTestFinished(() => last.close())
    return {
      first: last,
      async again() {
        await last.close()
        last = await open()
        return last
      },
    }
  }

  it('lists what was added, without rows and oldest first, also after it was opened again', async () => {
    const { first, again } = await openTwice()
    expect(await first.list()).toEqual([])
    await first.add(found({ row: '{"id":"ä"}' }))
    // Times are in milliseconds.
    await expectSoon(() => Date.now()).toBeGreaterThan(Date.parse((await first.list())[0]?.at ?? ''))
    await first.add(found({ topic: 'objects', offset: 1, reason: 'a' }))
    const letters = await first.list()
    expect(letters).toEqual([
      {
        topic: 'calls',
        partition: 3,
        offset: 12,
        rowIndex: 4,
        reason: 'Cannot parse input',
        sizeBytes: 11,
        id: expect.any(String),
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
      expect.objectContaining({ topic: 'objects', offset: 1, reason: 'a', sizeBytes: 10 }),
    ])
    expect(await (await again()).list()).toEqual(letters)
  })

  it('keeps the same row at the same place once, whoever finds it and when', async () => {
    const { first, again } = await openTwice()
    const places = [0, 1, 2].map((rowIndex) => found({ rowIndex }))
    await Promise.all([...places, ...places].map((letter) => first.add(letter)))
    const letters = await first.list()
    expect(letters).toHaveLength(3)
    const second = await again()
    await second.add(found({ rowIndex: 1, reason: 'found by another worker' }))
    expect((await second.list()).map(({ id, at }) => [id, at])).toEqual(letters.map(({ id, at }) => [id, at]))
  })

  it('keeps rows of another place, and another row at the same place', async () => {
    const { first } = await openTwice()
    const others = [{ topic: 'files' }, { partition: 0 }, { offset: 13 }, { rowIndex: 5 }, { row: '{"id":"b"}' }]
    await first.add(found())
    for (const other of others) await first.add(found(other))
    expect((await placesOf(first)).sort()).toEqual(
      ['calls 0 12 4', 'calls 3 12 4', 'calls 3 12 4', 'calls 3 12 5', 'calls 3 13 4', 'files 3 12 4'].sort(),
    )
    const rows = await Promise.all((await first.list()).map(async ({ id }) => (await first.show(id))?.row))
    expect(rows.filter((row) => row === '{"id":"b"}')).toHaveLength(1)
  })

  it('removes those that are asked for, and keeps what is said of the others', async () => {
    const { first, again } = await openTwice()
    for (const [offset, row] of ['{"id":"gone"}', '{"id":"b"}', '{"id":"gone"}', '{"id":"c"}'].entries())
      await first.add(found({ offset, row }))
    const before = await first.list()
    await first.markReplayed(before[1]?.id as string)
    const others = (await first.list()).filter(({ offset }) => offset % 2 === 1)
    const removed = await first.remove(({ topic, row }) => topic === 'calls' && row.includes('gone'))
    expect(removed.map(({ offset }) => offset).sort()).toEqual([0, 2])
    expect(await first.remove(() => false)).toEqual([])
    expect(await first.list()).toEqual(others)
    expect(await first.show(before[0]?.id as string)).toBeUndefined()
    await first.add(found({ offset: 9, row: '{"id":"later"}' }))
    const second = await again()
    expect((await second.list()).map(({ offset }) => offset)).toEqual([1, 3, 9])
    expect((await second.list())[0]?.replayedAt).toBe(others[0]?.replayedAt)
    // One that is found once more is a letter again.
    await second.add(found({ offset: 0, row: '{"id":"gone"}' }))
    expect(await second.list()).toHaveLength(4)
  })

  it('shows rows as they were, whatever they hold', async () => {
    const { first, again } = await openTwice()
    const odd = [
      '',
      '\u2028\u2029',
      'a\nb\r\n',
      '\u0000\u007f',
      "'); DROP TABLE x; --",
      '{"a":"\\u2028 {x:String}"}',
      '\\N\t',
    ]
    const texts = fc.sample(fc.string({ unit: 'binary' }), { numRuns: 10, seed: 7 })
    const rows = [...odd, ...texts, `{"n":"${'separator \u2028 here'.repeat(10_000)}"}`]
    for (const [rowIndex, row] of rows.entries()) await first.add(found({ rowIndex, row, reason: row.slice(0, 100) }))
    const second = await again()
    const shown = await Promise.all((await second.list()).map(({ id }) => second.show(id)))
    const byPlace = shown.toSorted((a, b) => (a?.rowIndex ?? 0) - (b?.rowIndex ?? 0))
    expect(byPlace.map((letter) => letter?.row)).toEqual(rows)
    expect(byPlace.map((letter) => letter?.reason)).toEqual(rows.map((row) => row.slice(0, 100)))
    expect(await second.show('00000000-0000-7000-8000-000000000000')).toBeUndefined()
  })

  it('knows what was replayed, for good', async () => {
    const { first, again } = await openTwice()
    await first.add(found())
    await first.add(found({ offset: 13 }))
    const [letter] = (await first.list()).filter(({ offset }) => offset === 12)
    const { id = '', at } = letter ?? {}
    await first.markReplayed(id)
    await first.markReplayed('00000000-0000-7000-8000-000000000000')
    await first.add(found())
    const second = await again()
    expect((await second.list()).map(({ offset, replayedAt }) => [offset, replayedAt !== undefined]).sort()).toEqual([
      [12, true],
      [13, false],
    ])
    expect(await second.show(id)).toMatchObject({ id, at, row: '{"id":"a"}', replayedAt: expect.any(String) })
  })
}
