// Kept connections: those without a request for seconds only, and of too many those of strangers last.
import { EventEmitter } from 'node:events'
import type { Server } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createConnections } from '../../services/core/process/connections.ts'
import { connectionsFor, openFilesLimit } from '../../services/core/process/file-limit.ts'
import { givenClock } from '../fixtures/given-clock.ts'

let nextPort = 1

class FakeSocket extends EventEmitter {
  remoteAddress = '127.0.0.1'
  remotePort = nextPort++
  localPort = 6400
  destroyed = false
  destroy() {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

function port(most: number) {
  const clock = givenClock()
  const told: number[] = []
  const connections = createConnections({ most, clock, onFull: () => told.push(clock.now()) })
  const server = new EventEmitter()
  connections.watch(server as Server)
  return {
    clock,
    told,
    connections,
    connect(): FakeSocket {
      const socket = new FakeSocket()
      server.emit('connection', socket)
      return socket
    },
    /** A request of a caller with a key, answered unless it is `busy`. */
    ask(socket: FakeSocket, isBusy = false): void {
      const connection = connections.of(socket)
      connection?.begins()
      connection?.isKnown()
      if (!isBusy) connection?.ends()
    },
  }
}

describe('a connection without a request', () => {
  it('is closed after ten seconds, one with a request is not', () => {
    const { clock, connections, connect } = port(10)
    const [quiet, asking] = [connect(), connect()]
    clock.pass(9_000)
    connections.of(asking)?.begins()
    clock.pass(1_000)
    expect([quiet.destroyed, asking.destroyed]).toEqual([true, false])
    connections.of(asking)?.ends()
    clock.pass(60_000)
    expect(asking.destroyed).toBe(false)
    expect([connections.count(), clock.waiting()]).toEqual([1, 0])
  })
})

describe('where there is no room', () => {
  it('the stranger that has been quiet longest makes it', () => {
    const { connections, connect, ask } = port(4)
    const known = connect()
    ask(known)
    const [first, second, third] = [connect(), connect(), connect()]
    // A request without a key that counts makes nobody known, but later.
    connections.of(first)?.begins()
    connections.of(first)?.ends()
    connect()
    expect([first, second, third, known].map(({ destroyed }) => destroyed)).toEqual([false, true, false, false])
    // Also one that does not read its answer.
    connections.of(third)?.begins()
    connect()
    expect(first.destroyed).toBe(true)
    expect(connections.count()).toBe(4)
  })

  it('an idle caller makes it where there are no strangers, and none with a request', () => {
    const { told, clock, connect, ask } = port(3)
    const [busy, long, short] = [connect(), connect(), connect()]
    ask(busy, true)
    ask(long)
    ask(short)
    const next = connect()
    expect([busy, long, short, next].map(({ destroyed }) => destroyed)).toEqual([false, true, false, false])
    ask(short, true)
    ask(next, true)
    expect(connect().destroyed).toBe(true)
    expect([busy, short, next].map(({ destroyed }) => destroyed)).toEqual([false, false, false])
    clock.pass(60_000)
    connect()
    expect(told).toEqual([0, 60_000])
  })

  it('a caller whose request has ended may make room again', () => {
    const { connections, connect, ask } = port(1)
    const socket = connect()
    ask(socket, true)
    expect(connect().destroyed).toBe(true)
    connections.of(socket)?.ends()
    const next = connect()
    expect([socket.destroyed, next.destroyed]).toEqual([true, false])
    expect(connections.of(socket)).toBeUndefined()
  })
})

describe('the room for connections', () => {
  it('leaves files for log and engine', () => {
    expect([256, 1_024, 4_096, 65_536, Number.POSITIVE_INFINITY, null].map(connectionsFor)).toEqual([
      64, 256, 1_536, 10_000, 10_000, 256,
    ])
  })

  it('goes by what the system says', () => {
    expect(openFilesLimit(() => 'Max open files            1024                 4096                 files')).toBe(
      1_024,
    )
    expect(openFilesLimit(() => 'Max open files            unlimited            unlimited            files')).toBe(
      Number.POSITIVE_INFINITY,
    )
    const none = () => {
      throw new Error('ENOENT')
    }
    expect([openFilesLimit(() => ''), openFilesLimit(none)]).toEqual([null, null])
  })
})
