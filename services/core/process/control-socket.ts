// The socket in the data folder over which commands talk to the server that holds the folder.

import { createHash } from 'node:crypto'
import { lstatSync, rmSync, statSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export type ControlRequest = { command: string; args: string[] }
export type ControlReply = { ok: true; result: unknown } | { ok: false; reason: string }
type ControlHandler = (request: ControlRequest) => Promise<unknown>

/** Path of the socket; long folder names do not fit into a socket address, so those get a short name elsewhere. */
function controlSocketPath(dataDir: string): string {
  const path = join(resolve(dataDir), 'callhouse.sock')
  if (Buffer.byteLength(path) < 100) return path
  return join(tmpdir(), `callhouse-${createHash('sha256').update(path).digest('hex').slice(0, 16)}.sock`)
}

/** Serves commands of the same user on the socket; the caller holds the folder's lock, so a leftover socket is stale. */
export async function listenForCommands(dataDir: string, handler: ControlHandler): Promise<{ close(): Promise<void> }> {
  const path = controlSocketPath(dataDir)
  rmSync(path, { force: true })
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', async () => {
      let reply: ControlReply
      try {
        reply = { ok: true, result: await handler(JSON.parse(Buffer.concat(chunks).toString()) as ControlRequest) }
      } catch (error) {
        reply = { ok: false, reason: error instanceof Error ? error.message : String(error) }
      }
      outgoing.end(JSON.stringify(reply))
    })
  })
  const mask = process.umask(0o077)
  try {
    await new Promise<void>((listening, failed) => server.once('error', failed).listen(path, listening))
  } finally {
    process.umask(mask)
  }
  return {
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
}

/** Where the folder's name is long the socket lies where everybody can make one: a stranger's is none. */
function isStrangers(path: string, dataDir: string): boolean {
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid
  if (owner === undefined || owner === process.geteuid?.()) return false
  return owner !== statSync(dataDir, { throwIfNoEntry: false })?.uid
}

/** Asks the running server; undefined when no server listens on the folder's socket. */
export function askOverSocket(dataDir: string, message: ControlRequest): Promise<ControlReply | undefined> {
  const socketPath = controlSocketPath(dataDir)
  if (isStrangers(socketPath, dataDir)) return Promise.resolve(undefined)
  return new Promise((answered, failed) => {
    const outgoing = request({ socketPath, method: 'POST', path: '/' }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => answered(JSON.parse(Buffer.concat(chunks).toString()) as ControlReply))
    })
    outgoing.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ENOENT' || error.code === 'ECONNREFUSED' ? answered(undefined) : failed(error),
    )
    outgoing.end(JSON.stringify(message))
  })
}
