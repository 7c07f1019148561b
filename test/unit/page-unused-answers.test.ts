// What the page keeps of answers that nothing shows any more: so many of a kind, those that were left last.
import { expect, it } from 'vitest'
import { boundUnused } from '../../services/web/page/api/unused-answers.ts'

type Asked = { queryKey: unknown[]; queryFn?: () => Promise<string> }
type Cache = Parameters<typeof boundUnused>[0] & { findAll(of: Asked): { queryKey: unknown[] }[] }
type Client = { getQueryCache(): Cache; fetchQuery(asked: Asked): Promise<string>; clear(): void }
type Library = {
  QueryClient: new () => Client
  QueryObserver: new (client: Client, asked: Asked) => { subscribe(listener: () => void): () => void }
}
// Its own types are those of a page: they would be seen by all tests.
const library: string = '@tanstack/react-query'
const { QueryClient, QueryObserver } = (await import(library)) as Library

/** A cache of answers that are shown, and left, by key. */
function shownAnswers() {
  const client = new QueryClient()
  boundUnused(client.getQueryCache())
  const show = async (...queryKey: [kind: string, ...rest: unknown[]]) => {
    const asked = { queryKey, queryFn: () => Promise.resolve('an answer') }
    const leave = new QueryObserver(client, asked).subscribe(() => undefined)
    await client.fetchQuery(asked)
    return leave
  }
  const kept = (kind: string): unknown[] =>
    client
      .getQueryCache()
      .findAll({ queryKey: [kind] })
      .map(({ queryKey }) => queryKey[1])
  return { client, show, kept }
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n)

it('of answers to questions of a moment those of the last sixty moments are kept', async () => {
  const { client, show, kept } = shownAnswers()
  for (const moment of numbers(0, 200)) (await show('calls.histogram', moment))()
  expect(kept('calls.histogram')).toEqual(numbers(140, 200))
  client.clear()
})

it('answers that are shown stay, and do not count; those that are shown again are the last', async () => {
  const { client, show, kept } = shownAnswers()
  const leave = await show('trace', 0)
  for (const trace of numbers(1, 4)) (await show('trace', trace))()
  expect(kept('trace')).toEqual([0, 1, 2, 3])
  ;(await show('trace', 1))()
  ;(await show('trace', 4))()
  expect(kept('trace')).toEqual([0, 1, 3, 4])
  leave()
  expect(kept('trace')).toEqual([0, 1, 4])
  client.clear()
})

it('kinds do not take each other’s room', async () => {
  const { client, show, kept } = shownAnswers()
  ;(await show('session'))()
  for (const trace of numbers(0, 10)) (await show('trace', trace))()
  expect([kept('session').length, kept('trace')]).toEqual([1, [7, 8, 9]])
  client.clear()
})
