// tier: deep crash
// One process per data folder: who holds it is told, dead holders are replaced, two starters never both win.
import { spawn } from 'node:child_process'
import { constants, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { waitForEarlierBuild } from '../../services/core/log/segments/earlier-lock.ts'
import { type LockTime, takeLock } from '../../services/core/process/folder-lock.ts'
import { describeSelf, encodeHolder, type Holder } from '../../services/core/process/holder.ts'
import { eventually } from '../fixtures/eventually.ts'
import { openLog, temporaryFolder } from '../fixtures/log.ts'
import { hasNamespaces, startLogProcess } from '../fixtures/log-process.ts'

const quiet = { onWait: () => undefined }
/** Gives up at once. */
const soon = { ...quiet, waitMs: 0 }
/** The times of the product, a hundred times shorter. */
const beating = { beatMs: 50, silenceMs: 200, certainMs: 80, settleMs: 100 }
/** A file system without locks. */
const lockless = { ...soon, ...beating, lock: () => 'none' as const }

/** Time that passes while somebody waits, or by hand. @param meanwhile happens in each wait, which it is the n-th of */
function givenTime(meanwhile: (n: number) => unknown = () => undefined) {
  let [nowMs, waits, beat] = [0, 0, (): void => undefined]
  return {
    steadyMs: () => nowMs,
    wallMs: () => nowMs,
    async wait(ms: number) {
      nowMs += ms
      await meanwhile(++waits)
    },
    repeat(run: () => void) {
      beat = run
      return () => {
        beat = () => undefined
      }
    },
    waits: () => waits,
    pass(ms: number) {
      nowMs += ms
    },
    beat: () => beat(),
  }
}

/** Time that passes once all of so many starters wait or have ended. */
function sharedTime(starters: number): LockTime & { ended(): void } {
  let busy = starters
  const waiting: (() => void)[] = []
  const next = (): void => {
    if (--busy > 0) return
    busy = waiting.length
    for (const wake of waiting.splice(0)) wake()
  }
  return {
    ...givenTime(),
    wait: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve)
        next()
      }),
    ended: next,
  }
}

const take = async (dir: string, options: Parameters<typeof takeLock>[1] = soon) => {
  const lock = await takeLock(dir, options)
  onTestFinished(() => lock.release())
  return lock
}

/** Writes what a holder with these properties would have written, in place as it does. */
async function leave(dir: string, changes: Partial<Holder>): Promise<void> {
  const file = await open(join(dir, 'lock'), constants.O_WRONLY | constants.O_CREAT)
  await file.write(encodeHolder({ ...(await describeSelf()), ...changes }), 0, null, 0)
  await file.close()
}

/** The number of a process that has ended. */
const endedPid = 999_999_999

describe('the lock of the kernel', () => {
  test('a second start says which process holds the folder, until that one is killed', async () => {
    const dir = await temporaryFolder()
    const holder = startLogProcess(dir)
    await holder.opened
    await expect(takeLock(dir, soon)).rejects.toThrow(
      `${dir} is in use by process ${holder.child.pid} on ${hostname()} since`,
    )
    holder.kill()
    await openLog(dir)
    await expect(takeLock(dir, soon)).rejects.toThrow(`in use by process ${process.pid}`)
  })

  test('a start waits for a holder that ends, and says so once', async () => {
    const dir = await temporaryFolder()
    const holder = await takeLock(dir, soon)
    const lines: string[] = []
    const time = givenTime((n) => n === 3 && holder.release())
    await take(dir, { time, onWait: (line) => lines.push(line) })
    expect(time.waits()).toBe(3)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(`is in use by process ${process.pid} on `)
    expect(lines[0]).toContain('waits up to 10 s for it to end')
  })

  test('a killed process that its parent does not reap holds nothing', async () => {
    const dir = await temporaryFolder()
    // The shell becomes a program that never asks for the end of its child.
    const holder = startLogProcess(dir, { through: ['sh', '-c', '"$0" "$@" & echo pid $!; exec sleep 600'] })
    await holder.opened
    const { pid } = JSON.parse(await readFile(join(dir, 'lock'), 'utf8')) as Holder
    process.kill(pid, 'SIGKILL')
    await eventually(async () => expect(await readFile(`/proc/${pid}/stat`, 'utf8')).toContain(') Z '))
    // Its other threads may be ending yet, for both.
    await take(dir, quiet)
    // The same where only the table of processes tells.
    const other = await temporaryFolder()
    await leave(other, { pid, startTicks: '' })
    await take(other, { ...lockless, waitMs: 10_000 })
  })

  test('children of the holder do not keep the lock', async () => {
    const dir = await temporaryFolder()
    const lock = await takeLock(dir, soon)
    const child = spawn('sleep', ['600'], { stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    await lock.release()
    await take(dir)
  })

  test('a closed log can be opened again, and lock files do not pile up', async () => {
    const dir = await temporaryFolder()
    for (let i = 0; i < 5; i++) await (await openLog(dir)).close()
    expect((await readdir(dir)).filter((name) => name.startsWith('lock'))).toEqual(['lock'])
  })

  test('a lock file that a power failure left without content does not hold', async () => {
    const dir = await temporaryFolder()
    await writeFile(join(dir, 'lock'), '\0'.repeat(20))
    await take(dir)
  })

  test.for([
    ['kernel', soon],
    ['file', lockless],
  ] as const)(
    'of many starters at one moment one wins by the %s, on a fresh, a released and a dead lock',
    async ([, how]) => {
      const dir = await temporaryFolder()
      for (let round = 0; round < 6; round++) {
        const time = sharedTime(8)
        const starters = Array.from({ length: 8 }, () => takeLock(dir, { ...how, time }).finally(time.ended))
        const outcomes = await Promise.allSettled(starters)
        const won = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
        expect(won).toHaveLength(1)
        await won[0]?.release()
        if (round % 2 === 0) await leave(dir, { pid: endedPid })
      }
    },
  )
})

describe('a lock that was written under another kernel, or on a file system without locks', () => {
  test('holds while its file is written, and is dead after its silence', async () => {
    const dir = await temporaryFolder()
    const live = () => leave(dir, { bootId: 'elsewhere', host: 'elsewhere' })
    await live()
    const start = { ...quiet, waitMs: 1_000, time: givenTime(live) }
    await expect(takeLock(dir, start)).rejects.toThrow('on elsewhere since')
    await expect(takeLock(dir, start)).rejects.toThrow('its lock is dead 20 s after its last sign of life')
    // A silent holder is waited for, longer than one that lives.
    const lastMs = Date.now()
    const time = givenTime((n) => utimes(join(dir, 'lock'), lastMs / 1_000, lastMs / 1_000 - 2 * n))
    await take(dir, { ...quiet, waitMs: 400, time })
    // Until its silence was 20 s long, and once more after it wrote itself into the file.
    expect(time.waits()).toBe(11)
  })

  test('a lock of long ago is taken without waiting for its silence', async () => {
    const dir = await temporaryFolder()
    await leave(dir, { bootId: 'before the last start of the machine' })
    const longAgo = new Date(Date.now() - 60_000)
    await utimes(join(dir, 'lock'), longAgo, longAgo)
    const time = givenTime()
    await take(dir, { ...soon, time })
    expect(time.waits()).toBe(1)
  })

  test('the same process number with another start time is another process', async () => {
    const dir = await temporaryFolder()
    await leave(dir, {})
    await expect(takeLock(dir, lockless)).rejects.toThrow('is in use by process')
    await leave(dir, { startTicks: '1' })
    await take(dir, lockless)
  })

  test.skipIf(!hasNamespaces)('the number of a process of another PID namespace says nothing', async () => {
    const dir = await temporaryFolder()
    const holder = startLogProcess(dir, { isNamespace: true, lock: { ...beating, kernel: 'none' } })
    await holder.opened
    // However long it is held up: one that is silent for less than a minute lives.
    const patient = { ...lockless, beatMs: 60_000, silenceMs: 60_000 }
    await expect(takeLock(dir, patient)).rejects.toThrow('in another container or PID namespace')
    holder.kill()
    await holder.ended
    await take(dir, { ...lockless, waitMs: 10_000 })
  })

  test('two that write themselves into the file at one moment do not both get the folder', async () => {
    const dir = await temporaryFolder()
    const time = givenTime(() => leave(dir, { id: 'another one' }))
    await expect(takeLock(dir, { ...lockless, time })).rejects.toThrow('is in use by')
    expect(time.waits()).toBe(1)
  })
})

describe('a lock that is lost', () => {
  const lost = async (dir: string, lose: () => Promise<unknown>): Promise<void> => {
    const lines: string[] = []
    const time = givenTime()
    const lock = await takeLock(dir, { ...soon, time, onLost: (line) => lines.push(line) })
    time.beat()
    lock.check()
    expect(lines).toEqual([])
    await lose()
    time.beat()
    time.beat()
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(`the lock ${join(dir, 'lock')} is lost`)
    expect(() => lock.check()).toThrow('is lost')
    await lock.release()
  }

  test('is noticed when its file is removed, replaced or taken over', async () => {
    const dir = await temporaryFolder()
    const path = join(dir, 'lock')
    await lost(dir, () => rm(path))
    await lost(dir, async () => {
      await writeFile(`${path}.copy`, await readFile(path))
      await rename(`${path}.copy`, path)
    })
    await lost(dir, () => leave(dir, { pid: 1, host: 'elsewhere' }))
    // The record of another process stays.
    expect(await readFile(path, 'utf8')).toContain('elsewhere')
  })

  test('is written by its holder at each beat', async () => {
    const dir = await temporaryFolder()
    const path = join(dir, 'lock')
    const time = givenTime()
    await take(dir, { ...soon, time })
    const longAgo = new Date(Date.now() - 60_000)
    for (let beats = 0; beats < 2; beats++) {
      await utimes(path, longAgo, longAgo)
      await eventually(async () => {
        time.beat()
        expect((await stat(path)).mtimeMs).toBeGreaterThan(longAgo.getTime())
      })
    }
  })

  test('nothing is written any more by one that slept meanwhile, not even before its next look', async () => {
    const dir = await temporaryFolder()
    const time = givenTime()
    const lock = await takeLock(dir, { ...soon, certainMs: 50, time, onLost: () => undefined })
    const log = await openLog(dir, { lock })
    const record = { rows: Buffer.from('{}\n'), rowCount: 1, patchCount: 0, clock: 8n, key: 'one' }
    await log.append('calls', [record])
    const segment = join(
      dir,
      'calls',
      (await readdir(join(dir, 'calls'))).find((name) => name.endsWith('.jsonl')) ?? '',
    )
    const before = await readFile(segment)
    await leave(dir, { pid: 1, host: 'elsewhere' })
    time.pass(50)
    await expect(log.append('calls', [record])).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await readFile(segment)).toEqual(before)
    await log.close().catch(() => undefined)
    await lock.release()
  })

  // The first process of a container cannot be killed from within.
  test.for([false, ...(hasNamespaces ? [true] : [])])(
    'ends the process at once, as a crash would, also as the first of a container (%s)',
    async (isNamespace) => {
      const dir = await temporaryFolder()
      const holder = startLogProcess(dir, { round: 1, lock: beating, isNamespace })
      await holder.more(10)
      await rm(join(dir, 'lock'))
      const { signal, stderr } = await holder.ended
      expect(signal).toMatch(isNamespace ? /^SIG(ABRT|SEGV|ILL|TRAP)$/ : /^SIGKILL$/)
      expect(stderr).toContain('is lost: it was removed; ended at once, since another process may use the folder')
    },
  )
})

describe('the lock of earlier builds', () => {
  const earlier = { pid: 1, host: 'somewhere', startTicks: '1', bootId: 'x', since: '' }

  test('a released or dead one does not hold up an upgrade, and goes', async () => {
    const dir = await temporaryFolder()
    const long = new Date(Date.now() - 30_000)
    await writeFile(join(dir, 'lock-00000007'), JSON.stringify({ ...earlier, pid: 0 }))
    await writeFile(join(dir, 'lock-00000008'), JSON.stringify(earlier))
    await utimes(join(dir, 'lock-00000008'), long, long)
    await openLog(dir)
    expect((await readdir(dir)).filter((name) => name.startsWith('lock'))).toEqual(['lock'])
  })

  test('one that is still written holds', async () => {
    const dir = await temporaryFolder()
    const path = join(dir, 'lock-00000007')
    await writeFile(path, JSON.stringify(earlier))
    const lines: string[] = []
    const waiting = waitForEarlierBuild(dir, (line) => lines.push(line), 0)
    const refused = expect(waiting).rejects.toThrow(`${dir} is in use by process 1 on somewhere, of an earlier version`)
    await eventually(() => expect(lines).toHaveLength(1))
    const later = new Date(Date.now() + 1_000)
    await utimes(path, later, later)
    await refused
    expect(await readdir(dir)).toContain('lock-00000007')
  })

  test('one that is given back meanwhile lets the start go on, and so does one that nobody can read', async () => {
    const dir = await temporaryFolder()
    const path = join(dir, 'lock-00000007')
    await writeFile(path, JSON.stringify(earlier))
    await writeFile(join(dir, 'lock-abc.tmp'), '{"pid":')
    const giveBack = () => writeFile(path, JSON.stringify({ ...earlier, pid: 0 }))
    await waitForEarlierBuild(dir, () => void giveBack())
    expect(await readdir(dir)).toEqual([])
  })
})
