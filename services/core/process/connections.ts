// Chooses the connections that the ports of the server keep. All ports have one bound together, so that whoever holds
// connections open leaves files for log and engine; a connection without a request is closed after seconds; and one
// that comes when there is no room takes the place of the one that has been quiet longest, of strangers first.
import type { Server, Socket } from 'node:net'
import { type CallClock, callClock } from '../clock/call-clock.ts'

type Connection = {
  /** A request of it begins; and is answered. */
  begins(): void
  ends(): void
  /** One of its requests had a key that counts: it is no stranger's. */
  isKnown(): void
}

export type Connections = {
  /** Counts the connections of a port. */
  watch(server: Server): void
  /** The connection of a socket, over TLS too; undefined once it is closed. */
  of(socket: Pick<Socket, 'remoteAddress' | 'remotePort' | 'localPort'>): Connection | undefined
  count(): number
}

/** So long a connection may take for its first request. */
const firstRequestMs = 10_000
const linesEveryMs = 60_000

type Entry = Connection & { socket: Socket; leave(): void }

export function createConnections(options: {
  most: number
  clock?: CallClock
  /** Called at most once a minute. */
  onFull?(): void
}): Connections {
  const { most, clock = callClock, onFull } = options
  const all = new Map<string, Entry>()
  /** Strangers in the order of their last request, or of their arrival. */
  const strangers = new Set<Entry>()
  const idle = new Set<Entry>()
  let saidMs = Number.NEGATIVE_INFINITY

  /** The addresses of both ends name a connection as long as it is open, whichever object stands for it. */
  const nameOf = ({ remoteAddress, remotePort, localPort }: Parameters<Connections['of']>[0]): string =>
    `${remoteAddress} ${remotePort} ${localPort}`

  function entryOf(socket: Socket, name: string): Entry {
    let requests = 0
    let isStranger = true
    const dropLimit = clock.after(firstRequestMs, () => socket.destroy())
    const entry: Entry = {
      socket,
      begins() {
        dropLimit()
        requests++
        idle.delete(entry)
        if (isStranger && strangers.delete(entry)) strangers.add(entry)
      },
      ends() {
        requests--
        if (requests === 0 && !isStranger && !socket.destroyed) idle.add(entry)
      },
      isKnown() {
        isStranger = false
        strangers.delete(entry)
      },
      leave() {
        dropLimit()
        if (all.get(name) === entry) all.delete(name)
        strangers.delete(entry)
        idle.delete(entry)
      },
    }
    return entry
  }

  /** @returns whether there is room for one more now */
  function makeRoom(): boolean {
    if (all.size < most) return true
    if (clock.now() - saidMs >= linesEveryMs) {
      saidMs = clock.now()
      onFull?.()
    }
    const [quietest] = strangers.size > 0 ? strangers : idle
    if (quietest === undefined) return false
    quietest.leave()
    quietest.socket.destroy()
    return true
  }

  return {
    watch(server) {
      server.on('connection', (socket: Socket) => {
        if (!makeRoom()) return void socket.destroy()
        const name = nameOf(socket)
        const entry = entryOf(socket, name)
        all.set(name, entry)
        strangers.add(entry)
        socket.once('close', entry.leave)
      })
    },
    of: (socket) => all.get(nameOf(socket)),
    count: () => all.size,
  }
}
