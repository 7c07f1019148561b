// Reference of the ingest benchmark: node:http and JSON.parse, nothing else.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const server = createServer((incoming, outgoing) => {
  const chunks: Buffer[] = []
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
  incoming.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { batch: unknown[] }
    outgoing.setHeader('content-type', 'application/json')
    outgoing.end(JSON.stringify({ items: body.batch.length }))
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`{"port":${(server.address() as AddressInfo).port}}\n`))
process.on('SIGTERM', () => process.exit(0))
