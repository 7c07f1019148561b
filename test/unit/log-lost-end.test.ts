// A log that ends before what it had synced: no crash does that, so it is told of, though the log goes on.
import { readdir, readFile, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { healthOf } from '../../services/app/health.ts'
import type { EmbeddedLog } from '../../services/core/log/segments/segment-log.ts'
import { applyRows, openLog, recordOf, temporaryFolder } from '../fixtures/log.ts'

type Line = { fields: Record<string, unknown>; message: string }

async function opened(dir: string) {
  const errors: Line[] = []
  const none = () => undefined
  const error = (fields: Line['fields'], message: string) => void errors.push({ fields, message })
  const log = await openLog(dir, { logger: { info: none, warn: none, error } })
  return { log, errors }
}

const topic = 'calls'
const append = (log: EmbeddedLog, id: string) => log.append(topic, [recordOf([id])])

/** A closed log of six records of which the first is applied; how far it went was kept when it was. */
async function closedLog(): Promise<{ dir: string; files: string[] }> {
  const dir = await temporaryFolder()
  const { log } = await opened(dir)
  await append(log, '1')
  for await (const { lastOffset } of log.consume(topic, new AbortController().signal)) {
    // Each in a segment of its own but for the last two.
    for (const id of ['2', '3', '4']) await append(log, id)
    await Promise.all([append(log, '5'), append(log, '6')])
    await log.commit({ topic, partition: 0, offset: lastOffset })
    break
  }
  await log.close()
  const names = await readdir(join(dir, topic))
  const files = names.filter((name) => name.endsWith('.jsonl')).sort()
  return { dir, files: files.map((name) => join(dir, topic, name)) }
}

const fine = { health: async () => ({ status: 'ok' as const }), problem: () => undefined, missing: () => undefined }
const shown = (log: EmbeddedLog) =>
  healthOf({
    log,
    store: fine,
    edge: { problem: () => null },
    applied: fine,
    keys: fine,
    providers: fine,
    applying: undefined,
  })

describe('records that were synced when a position was kept, and are gone from the end', () => {
  it.each([
    [
      'the last one, as if it had not been written',
      async (file: string) => {
        const bytes = await readFile(file)
        await truncate(file, bytes.lastIndexOf(10, bytes.length - 2) + 1)
      },
    ],
    [
      'the last bytes, as if a write had not ended',
      async (file: string) => truncate(file, (await readFile(file)).length - 5),
    ],
    ['the last file', rm],
  ])('are told of: %s', async (_, lose) => {
    const { dir, files } = await closedLog()
    await lose(files.at(-1) as string)
    const { log, errors } = await opened(dir)
    const [end] = await log.end(topic)
    const from = (end?.offset ?? 0) + 1
    expect(from).toBeLessThanOrEqual(6)
    expect(errors).toEqual([
      {
        fields: { folder: join(dir, topic), from, to: 6 },
        message: 'records at the end of the log were synced, and are gone',
      },
    ])
    const { log: status, reasons } = await shown(log)
    expect([status, reasons?.log]).toEqual(['degraded', `records ${from} to 6 of calls were synced, and are gone`])
    // The log goes on with what is there, and says it until it is started anew and has kept where it is now.
    await append(log, 'next')
    await applyRows(log, topic, from - 1)
    expect((await shown(log)).log).toBe('degraded')
    await log.close()
    const again = await opened(dir)
    expect([again.errors, (await shown(again.log)).log]).toEqual([[], 'ok'])
  })

  it('are none after a usual end, nor where records came after the position was kept', async () => {
    const { dir } = await closedLog()
    const { log, errors } = await opened(dir)
    expect((await log.end(topic))[0]?.offset).toBe(6)
    await append(log, 'later')
    await log.close()
    const again = await opened(dir)
    expect([...errors, ...again.errors, (await shown(again.log)).log]).toEqual(['ok'])
  })
})
