// A server that passes everything on to another one: below a path of its own, or with answers that come in pieces.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Sends an answer on. @param body of the request */
type Pass = (body: string, answer: IncomingMessage, to: ServerResponse) => void

type Options = {
  /** Path that requests begin with, which is taken away; others are not found. */
  prefix?: string
  /** How answers of some paths go on; others go on as they come. */
  passes?: Record<string, Pass>
}

/** @returns its address, with the prefix */
export async function startForwarding(
  url: string,
  { prefix = '', passes = {} }: Options,
): Promise<{ origin: string; close(): Promise<unknown> }> {
  const { hostname, port } = new URL(url)
  const server = createServer(async (incoming, outgoing) => {
    const asked = incoming.url ?? '/'
    if (!asked.startsWith(`${prefix}/`)) return void outgoing.writeHead(404).end()
    const path = asked.slice(prefix.length)
    const headers = { ...incoming.headers, ...(prefix !== '' && { 'x-forwarded-prefix': prefix }) }
    const body = Buffer.concat(await incoming.toArray())
    const onward = request({ hostname, port, path, method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      const pass = passes[path]
      if (pass) pass(String(body), answer, outgoing)
      else answer.pipe(outgoing)
    })
    outgoing.on('close', () => onward.destroy())
    onward.on('error', () => outgoing.destroy())
    onward.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    async close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
