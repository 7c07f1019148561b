// The frozen reference: node:http, lines that are synced before the answer, files applied one after the other. argv: data
// folder.
import { mkdirSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openReferenceEngine } from './engine.ts'
import { linesOfCalls, linesOfSpans } from './rows.ts'
import { openSegments } from './segments.ts'

/** Files that wait to be applied; requests wait beyond them. */
const maxWaiting = 8

const dir = process.argv[2] as string
mkdirSync(dir, { recursive: true })
const engine = await openReferenceEngine(dir)
let waiting = 0
let applied = Promise.resolve()
const segments = await openSegments(join(dir, 'log'), (file) => {
  waiting++
  applied = applied.then(() => engine.apply(file)).then(() => void waiting--)
})

async function append(lines: Buffer): Promise<void> {
  while (waiting >= maxWaiting) await new Promise((resolve) => setTimeout(resolve, 5))
  await segments.append(lines)
}

async function answerTo({ url, headers }: IncomingMessage, body: Buffer): Promise<string> {
  switch (url) {
    case '/call/upsert_batch':
      await append(linesOfCalls(body))
      return '{"res":[]}'
    case '/otel/v1/traces':
      await append(linesOfSpans(body, String(headers.project_id)))
      return ''
    case '/calls/query_stats':
      return JSON.stringify({ count: await engine.count() })
    default:
      throw new Error(`the reference has no ${url}`)
  }
}

const server = createServer((incoming, outgoing) => {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => {
    answerTo(incoming, Buffer.concat(chunks)).then(
      (text) => outgoing.end(text),
      (error) => {
        outgoing.statusCode = 500
        outgoing.end(String(error))
      },
    )
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`{"port":${(server.address() as AddressInfo).port}}\n`))
// Nothing of it is read again, and the engine does not always end well while it works.
process.on('SIGTERM', () => process.kill(process.pid, 'SIGKILL'))
