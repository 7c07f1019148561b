// Whatever pieces a call over gRPC comes in, and however it is compressed: what is stored and answered is what one body
// over HTTP gives.
// again: property
import { type ClientHttp2Session, connect as connectH2 } from 'node:http2'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { basicAuth } from '../fixtures/child-server.ts'
import { callOver, exportPath, framed } from '../fixtures/grpc.ts'
import { type LiveServer, startLiveServer } from '../fixtures/live-server.ts'
import { aRequest, aSpan, text } from '../fixtures/otel.ts'
import { encodeRequest } from '../fixtures/otlp-proto.ts'
import { runs } from '../fixtures/runs.ts'

let server: LiveServer
let session: ClientHttp2Session
beforeAll(async () => {
  server = await startLiveServer(['--otlp-grpc-port', '0'])
  session = connectH2(`http://${server.now().otlp?.grpc}`)
})
afterAll(async () => {
  session?.close()
  await server?.remove()
})

const codings = {
  none: { encode: (bytes: Buffer) => framed(bytes), headers: {} },
  gzip: { encode: (bytes: Buffer) => framed(gzipSync(bytes), 1), headers: { 'grpc-encoding': 'gzip' } },
  zstd: { encode: (bytes: Buffer) => framed(zstdCompressSync(bytes), 1), headers: { 'grpc-encoding': 'zstd' } },
}
/** Texts that fall into one DATA frame, several, and more than a stream's first window of HTTP/2. */
const aText = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.string({ minLength: 1, maxLength: 30 }), fc.integer({ min: 100, max: 5_000 }))
      .map(([one, n]) => one.repeat(n)),
  },
)
const spans = fc.array(
  fc.record({ name: fc.string({ maxLength: 30 }), value: aText, isBad: fc.nat(9).map((n) => n === 0) }),
  { maxLength: 20 },
)
/** Lengths of pieces: of the head of the frame, of single bytes, of anything. */
const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 20_000 })), {
  maxLength: 40,
})

function cut(bytes: Buffer, at: number[]): Buffer[] {
  const pieces: Buffer[] = []
  let from = 0
  for (const length of at) {
    if (from >= bytes.length) break
    pieces.push(bytes.subarray(from, from + length))
    from += length
  }
  return from < bytes.length ? [...pieces, bytes.subarray(from)] : pieces
}

let cases = 0
async function rows(project_id: string): Promise<string> {
  const sort_by = [{ field: 'id', direction: 'asc' }]
  const found = await server.list('/calls/stream_query', { project_id, sort_by })
  return JSON.stringify(found).replaceAll(project_id, '<project>')
}

it('any pieces, compressed or not, give the rows and the answer of one body over HTTP', async () => {
  await fc.assert(
    fc.asyncProperty(spans, fc.constantFrom(...Object.keys(codings)), lengths, async (made, coding, at) => {
      const { encode, headers } = codings[coding as keyof typeof codings]
      const body = Buffer.from(
        encodeRequest(
          aRequest(
            made.map(({ name, value, isBad }, n) =>
              aSpan({
                spanId: (n + 1).toString(16).padStart(16, '0'),
                name,
                // An attribute that is a value and holds others is refused.
                attributes: [text('input.value', value), ...(isBad ? [text('a', '1'), text('a.b', '2')] : [])],
              }),
            ),
          ),
        ),
      )
      const [overGrpc, overHttp] = [`cuts/grpc-${++cases}`, `cuts/http-${cases}`]
      const answer = await callOver(session, exportPath, cut(encode(body), at), {
        authorization: basicAuth(),
        project_id: overGrpc,
        ...headers,
      })
      const response = await fetch(`${server.now().url}/v1/traces`, {
        method: 'POST',
        body: new Uint8Array(body),
        headers: { authorization: basicAuth(), project_id: overHttp, 'content-type': 'application/x-protobuf' },
      })
      expect([answer.status, response.status]).toEqual([0, 200])
      expect(answer.bytes.subarray(5).equals(Buffer.from(await response.arrayBuffer()))).toBe(true)
      expect(await rows(overGrpc)).toBe(await rows(overHttp))
    }),
    { numRuns: runs(8, 200) },
  )
})
