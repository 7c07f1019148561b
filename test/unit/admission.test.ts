// The limits of waiting bytes, of all and of a project beside others, follow from the speed of applying.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Admission, createAdmission } from '../../services/core/log/segments/admission.ts'

const mib = 2 ** 20
const of = (project: string, size: number) => new Map([[project, size * mib]])
const fs = { space: async () => ({ freeBytes: 1e15, totalBytes: 1e15 }) } as never
const admissionOf = (readersWaitMs?: number) =>
  createAdmission({ fs, dir: '/', maxUnappliedBytes: 512 * mib, minFreeBytes: 0, readersWaitMs })
let admission: Admission
beforeEach(() => {
  vi.useFakeTimers()
  waiting = 0
  admission = admissionOf()
})
afterEach(() => void vi.useRealTimers())

const isTaken = (project: string, size = 1): boolean => {
  try {
    admission.enter(size * mib, of(project, size))
    return true
  } catch {
    return false
  }
}
/** Mebibytes of a busy project that wait when it has written until it was refused. */
let waiting = 0
function fill(): number {
  while (isTaken('busy')) waiting++
  return waiting
}
/** Mebibytes of a busy project that wait beside a quiet one, where a batch of some MiB takes so long. */
function roomAfter(batches: number, batchMs: number, size = 8): number {
  fill()
  for (let batch = 0; batch < batches; batch++) {
    vi.advanceTimersByTime(batchMs)
    const applied = Math.min(size, waiting)
    admission.applied(applied * mib, of('busy', applied))
    waiting -= applied
    fill()
  }
  return waiting
}

it.each([
  ['an eighth of the bound where that is applied in a second', 50, 64],
  ['what is applied in a second', 250, 32],
  ['16 MiB however slow it is', 8_000, 16],
])('%s', (_, batchMs, room) => {
  isTaken('quiet')
  expect(roomAfter(60, batchMs)).toBe(room)
})

it('follows when the machine gets slower, and an eighth of the bound before it is known', () => {
  isTaken('quiet')
  expect(roomAfter(0, 0)).toBe(64)
  expect(roomAfter(60, 250)).toBe(32)
  expect(roomAfter(4, 2_000)).toBe(16)
})

it('a project is held to its share also while one batch takes long, and to half of the bound when nothing is applied', () => {
  isTaken('quiet')
  expect(roomAfter(60, 250)).toBe(32)
  vi.advanceTimersByTime(9_000)
  expect(fill()).toBe(32)
  vi.advanceTimersByTime(2_000)
  expect(fill()).toBeGreaterThan(200)
})

it('takes one append that is larger than that of a project that has nothing waiting', () => {
  isTaken('quiet')
  expect(roomAfter(60, 8_000)).toBe(16)
  expect([isTaken('large', 30), isTaken('large')]).toEqual([true, false])
})

it('leaves room for a project that wrote an hour ago, and none for one of the day before', () => {
  const roomBeside = (quietMs: number): number => {
    isTaken('quiet')
    admission.applied(mib, of('quiet', 1))
    vi.advanceTimersByTime(quietMs)
    const room = fill()
    admission.applied(waiting * mib, of('busy', waiting))
    waiting = 0
    return room
  }
  expect(roomBeside(3_600_000)).toBe(64)
  expect(roomBeside(25 * 3_600_000)).toBeGreaterThan(400)
})

describe('where reads wait for two seconds', () => {
  beforeEach(() => {
    admission = admissionOf(2_000)
  })

  it.each([
    ['what is applied in three quarters of that, less an eighth for the next project', 250, 42],
    ['32 MiB less that eighth however slow it is', 8_000, 28],
    ['the bound of bytes where that is less', 10, 448],
  ])('a project alone has %s waiting', (_, batchMs, room) => {
    expect(roomAfter(60, batchMs)).toBe(room)
  })

  it('busy projects have no more together, and a quiet one that comes then is taken', () => {
    // 32 MiB are the bound: two busy ones fill it.
    expect(roomAfter(60, 8_000)).toBe(28)
    admission.applied(waiting * mib, of('busy', waiting))
    waiting = 0
    isTaken('busy also')
    fill()
    while (isTaken('busy also'));
    expect(admission.unappliedBytes()).toBe(32 * mib)
    expect([isTaken('busy'), isTaken('busy also')]).toEqual([false, false])
    expect(admission.reason()).toMatch(/^32 MiB are waiting to be applied, the bound is 32 MiB: as much as/)
    expect(Array.from({ length: 6 }, () => isTaken('quiet'))).toEqual([true, true, true, true, false, false])
    expect(isTaken('large', 30)).toBe(true)
  })

  it('a store that is away stops writes over the bound of bytes alone', () => {
    expect(roomAfter(60, 250)).toBe(42)
    vi.advanceTimersByTime(10_000)
    expect(fill()).toBe(448)
  })
})
