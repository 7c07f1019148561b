// Log lines on a terminal: one line for what somebody wants to know, nothing for what goes well all the time.
import { pino, stdTimeFunctions } from 'pino'
import { expect, it } from 'vitest'
import { readableLines } from '../../services/core/process/logger.ts'

/** The lines of a logger, without times. */
function written(write: (log: pino.Logger) => void): string[] {
  const lines: string[] = []
  const out = readableLines({ write: (line) => void lines.push(line) })
  write(pino({ base: null, timestamp: stdTimeFunctions.isoTime }, out))
  return lines.map((line) => {
    expect(line).toMatch(/^\d\d:\d\d:\d\d .*\n$/s)
    return line.slice(9, -1)
  })
}
const request = { request: 'r1', route: 'calls.read', method: 'POST', status: 200, ms: 12.3, in: 1, out: 2 }

it('requests and batches that went well are not told, refused and slow ones are', () => {
  const told = written((log) => {
    log.info(request, 'request')
    log.info({ topic: 'calls', rows: 3 }, 'batch')
    log.info({ ...request, status: 499 }, 'request')
    log.info({ ...request, status: 404, user: 'ann' }, 'request')
    log.info({ ...request, ms: 2_400 }, 'request')
  })
  expect(told).toEqual([
    'POST calls.read answered 404 in 12 ms to ann (r1)',
    'POST calls.read answered 200 in 2400 ms (r1)',
  ])
})

it('everything else is a line with its members, and an error has its stack below', () => {
  const error = new Error('the disk is full')
  const told = written((log) => {
    log.info({ reason: 'SIGTERM', text: 'two words' }, 'shutting down')
    log.warn({ topic: 'calls', retryMs: 10, list: [1] }, 'store refused, trying again')
    log.error(error, 'not written')
    log.fatal({ error: '' }, 'worker stopped')
    log.info({ applied: 'x'.repeat(300) }, 'migrations applied')
  })
  expect(told).toEqual([
    'shutting down reason=SIGTERM text="two words"',
    'warning store refused, trying again topic=calls retryMs=10 list=[1]',
    `error not written\n${error.stack}`,
    'fatal worker stopped error=""',
    `migrations applied applied=${'x'.repeat(200)}…`,
  ])
})
