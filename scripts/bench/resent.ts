// `npm run bench resent`: bytes on disk of a span of agents that send their whole history with each turn.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmbeddedStore } from '../../services/core/store/chdb/chdb-store.ts'
import { encodeRequest } from '../../test/fixtures/otlp-proto.ts'
import { createPayloads } from './payloads.ts'
import { createClient, startCallhouseServer, untilAtRest, untilCounted, untilTaken } from './process.ts'

const project = 'bench/resent'
const turns = 50
/** Agents in all, however many of them run at a time. */
const agents = 32
const memoryBytes = 4 * 2 ** 30

type Message = { role: string; parts: { type: 'text'; content: string }[] }

const message = (role: string, content: string): Message => ({ role, parts: [{ type: 'text', content }] })
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })

/** The words of other payloads, as long as they are wanted. */
function createProse(seed: number): (chars: number) => string {
  const payloads = createPayloads(seed)
  let rest = ''
  return (chars) => {
    while (rest.length < chars)
      for (const { start } of payloads.trace()) {
        const { messages, query } = start.inputs as { messages?: { content: string }[]; query?: string }
        rest += `${messages?.map(({ content }) => content).join(' ') ?? query} `
      }
    const text = rest.slice(0, chars)
    rest = rest.slice(chars)
    return text
  }
}

/** One agent: each turn is a span with all messages before it, a question, a tool's answer and the reply. */
function createAgent(number: number, prose: (chars: number) => string) {
  const history: Message[] = [message('system', prose(1_200))]
  const traceId = number.toString(16).padStart(31, '0').padStart(32, 'a')
  let turn = 0
  return (startMs: number): Record<string, unknown> => {
    turn++
    history.push(message('user', prose(200)), message('tool', prose(700)))
    const reply = message('assistant', prose(500))
    const attributes = [
      attribute('gen_ai.operation.name', 'chat'),
      attribute('gen_ai.request.model', 'gpt-4o'),
      attribute('gen_ai.conversation.id', `conversation-${number}`),
      attribute('gen_ai.input.messages', JSON.stringify(history)),
      attribute('gen_ai.output.messages', JSON.stringify([reply])),
    ]
    history.push(reply)
    return {
      traceId,
      spanId: (number * 1_000 + turn).toString(16).padStart(15, '0').padStart(16, 'a'),
      name: 'chat',
      kind: 1,
      startTimeUnixNano: `${BigInt(startMs) * 1_000_000n}`,
      endTimeUnixNano: `${BigInt(startMs + 900) * 1_000_000n}`,
      attributes,
      status: { code: 1 },
    }
  }
}

/** @param atOnce agents that take their turns at the same time */
async function bytesOf(atOnce: number): Promise<{ sent: number; tables: number }> {
  const dir = mkdtempSync(join(tmpdir(), 'callhouse-bench-'))
  const server = await startCallhouseServer(dir)
  const post = createClient(server.port, 2)
  let sent = 0
  try {
    const prose = createProse(5)
    let startMs = Date.now() - 3_600_000
    for (let first = 0; first < agents; first += atOnce) {
      const running = Array.from({ length: atOnce }, (_, n) => createAgent(first + n, prose))
      for (let turn = 0; turn < turns; turn++) {
        const spans = running.map((next, n) => next(startMs + 7 * n))
        const body = encodeRequest({
          resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: {}, spans }] }],
        })
        sent += body.length
        const answer = await untilTaken(() =>
          post('/otel/v1/traces', body, 'application/x-protobuf', { project_id: project }),
        )
        if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${answer.body}`)
        startMs += 1_000
      }
    }
    await untilCounted(server, project, agents * turns)
    await untilAtRest(server)
  } finally {
    await server.stop()
  }
  const store = await createEmbeddedStore({
    dir,
    memoryCapBytes: memoryBytes,
    queryTimeoutMs: 60_000,
    queryMemoryBytes: memoryBytes,
  })
  try {
    const [all] = await store.rows<{ tables: string }>({
      name: 'bench.resent',
      sql: `SELECT toString(sum(bytes_on_disk)) AS tables FROM system.parts WHERE database = 'callhouse' AND active`,
      params: {},
    })
    return { sent, tables: Number(all?.tables) }
  } finally {
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  }
}

export async function benchResent(): Promise<void> {
  process.stdout.write(
    '| agents at a time | KB sent per span | KB in tables per span | times less |\n|---|---|---|---|\n',
  )
  for (const atOnce of [1, 8, 32]) {
    const { sent, tables } = await bytesOf(atOnce)
    const kb = (bytes: number): string => (bytes / (agents * turns) / 1000).toFixed(2)
    process.stdout.write(`| ${atOnce} | ${kb(sent)} | ${kb(tables)} | ${(sent / tables).toFixed(1)} |\n`)
  }
}
