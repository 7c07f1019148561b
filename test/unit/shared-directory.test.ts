// A directory that processes share: what one writes all have, whatever goes away in between, and what is not known is 503.
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { itemKey } from '../../services/core/directory/items.ts'
import { type ItemLog, type ItemRecord, openSharedDirectory } from '../../services/core/directory/shared.ts'
import { createAuthenticate } from '../../services/core/http/auth.ts'
import { newKeyText } from '../../services/core/http/key-text.ts'
import { createKeys } from '../../services/core/http/keys.ts'
import { expectSoon } from '../fixtures/eventually.ts'

type Broker = { log(): ItemLog; setAway(isAway: boolean): void; compact(): void; records: (ItemRecord | undefined)[] }

/** A log in memory that can go away, and forgets what was replaced when it is told to. */
function broker(): Broker {
  const records: (ItemRecord | undefined)[] = []
  const wake: (() => void)[] = []
  let isAway = false
  /** So often it has come back: a read since then answers at once. */
  let returns = 0
  const wakeAll = () => {
    for (const one of wake.splice(0)) one()
  }
  const throwIfAway = () => {
    if (isAway) throw new Error('nobody answers')
  }
  const logOf = (): ItemLog => {
    let seen = returns
    return {
      async append(more) {
        throwIfAway()
        records.push(...more)
        wakeAll()
        return records.length - 1
      },
      async read(from) {
        throwIfAway()
        if (from >= records.length && seen === returns) await new Promise<void>((resolve) => wake.push(resolve))
        throwIfAway()
        seen = returns
        return { records: records.slice(from).filter((one) => one !== undefined), next: Math.max(from, records.length) }
      },
      ends: async () => ({ first: 0, next: records.length }),
      close: async () => wakeAll(),
    }
  }
  return {
    records,
    log: logOf,
    setAway(away) {
      isAway = away
      if (!away) returns++
      wakeAll()
    },
    compact() {
      const last = new Map(records.map((record, index) => [record?.key, index]))
      for (const [index, record] of records.entries())
        if (last.get(record?.key) !== index && index < records.length - 1) records[index] = undefined
    },
  }
}

async function processOf(of: Broker, now?: () => number) {
  const told: string[] = []
  const directory = await openSharedDirectory({
    log: of.log(),
    staleMs: 1_000,
    pauseMs: 5,
    onBroken: (reason: string) => void told.push(reason),
    ...(now && { now }),
  })
  onTestFinished(() => directory.close())
  const keys = createKeys(directory, { configured: ['ann:secret'], arrives: directory.arrives })
  const authenticate = createAuthenticate(keys, [])
  const userOf = async (key: string) => {
    try {
      return (await authenticate({ authorization: `Bearer ${key}` })).userId
    } catch (error) {
      return (error as { status: number }).status
    }
  }
  return { directory, keys, userOf, told }
}

const made = async (by: Awaited<ReturnType<typeof processOf>>) => {
  const { id, text, stored } = by.keys.create({ userId: 'u', role: 'writer' })
  await stored
  return { id, text }
}

describe('processes that share a directory', () => {
  it('know a key that another one made and forget one that it revoked, also those that start later', async () => {
    const of = broker()
    const [one, two] = [await processOf(of), await processOf(of)]
    const { id, text } = await made(one)
    // Not a moment later: an unknown key is waited for.
    expect(await Promise.all([one, two].map(({ userOf }) => userOf(text)))).toEqual(['u', 'u'])
    await two.keys.revoke(id)
    expect(await two.userOf(text)).toBe(401)
    await expectSoon(() => one.userOf(text)).toBe(401)
    of.compact()
    expect(await (await processOf(of)).userOf(text)).toBe(401)
  })

  it('refuse a key that nobody has made after two seconds, and at once when many wait', async () => {
    const { userOf } = await processOf(broker())
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const unknown = () => userOf(newKeyText().text)
    const answers: unknown[] = []
    const waiting = Array.from({ length: 20 }, () => unknown().then((answer) => answers.push(answer)))
    // No time passes.
    expect(await unknown()).toBe(401)
    await vi.advanceTimersByTimeAsync(1_999)
    expect(answers).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    await Promise.all(waiting)
    expect(new Set(answers)).toEqual(new Set([401]))
    expect(await userOf('ch_of-an-earlier-form')).toBe(401)
  })

  it('let in whom they know while the log is away, then nobody but the keys of the settings', async () => {
    const of = broker()
    let nowMs = 0
    const one = await processOf(of, () => nowMs)
    const { id, text } = await made(one)
    of.setAway(true)
    await expect(one.keys.revoke(id)).rejects.toMatchObject({ kind: 'unavailable' })
    await expectSoon(() => one.told).toEqual([expect.stringContaining('nobody answers')])
    nowMs = 1_000
    expect([await one.userOf(text), await one.userOf('secret')]).toEqual(['u', 'ann'])
    nowMs = 1_001
    expect([await one.userOf(text), await one.userOf('secret')]).toEqual([503, 'ann'])
    expect(await one.userOf(newKeyText().text)).toBe(503)
    nowMs = 60_001
    expect(one.keys.problem()).toBe('the directory was not read for 60 s')
    of.setAway(false)
    await expectSoon(() => one.userOf(text)).toBe('u')
    expect(one.keys.problem()).toBeUndefined()
  })

  it('pass over an item that they cannot read, and say so', async () => {
    const of = broker()
    const one = await processOf(of)
    of.records.push({ key: itemKey('grant', 'u', '*'), text: '{"at":"","by":"","value":{"role":"king"}}' })
    of.records.push({ key: 'user/x', text: 'not JSON' })
    const { text } = await made(one)
    expect(await one.userOf(text)).toBe('u')
    expect(one.told).toEqual([expect.stringContaining('grant/u/*: role Invalid'), expect.stringContaining('not JSON')])
  })
})
