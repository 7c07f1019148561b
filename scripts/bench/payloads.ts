// Seeded payloads of the benchmarks: traces of eight calls, about 3.0 KB of JSON per call as start and end.
import { createRandom, type Random } from '../../test/fixtures/random.ts'

export type BenchCall = { start: Record<string, unknown>; end: Record<string, unknown>; kind: string }

const syllables = 'ta re mi on ka ser ple du vor ain est lo chi num ber qua ing per dat mo'.split(' ')
const kinds = ['agent', 'retrieve', 'chat', 'lookup', 'chat', 'search', 'chat', 'guard']
const models = ['gpt-4o-2024-08-06', 'gpt-4o-mini-2024-07-18', 'claude-3-5-sonnet-20241022']

function vocabulary(random: Random, size = 6000): string[] {
  return Array.from({ length: size }, () =>
    Array.from({ length: 1 + random.below(4) }, () => random.pick(syllables)).join(''),
  )
}

export type Payloads = {
  /** The next trace of eight calls. */
  trace(): BenchCall[]
  /** Body of /call/upsert_batch with the starts and ends of `calls` calls. */
  upsertBatch(calls: number): string
}

/** @param stepMs time between traces: small = a dense minute, large = calls spread over weeks */
export function createPayloads(
  seed = 1,
  project = 'acme/support-bot',
  startMs = Date.now() - 3_600_000,
  stepMs = 20,
): Payloads {
  const random = createRandom(seed)
  const words = vocabulary(createRandom(7))
  let nowMs = startMs
  const hex = (bytes: number): string =>
    Array.from({ length: bytes }, () => random.below(256).toString(16).padStart(2, '0')).join('')
  const uuid = (): string => {
    const time = Math.floor(nowMs).toString(16).padStart(12, '0')
    const rest = hex(10)
    return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-a${rest.slice(3, 6)}-${rest.slice(6, 18)}`
  }
  /** Words with a heavy head, so that the text compresses like prose. */
  const text = (chars: number): string => {
    let out = ''
    while (out.length < chars) {
      const u = random.next()
      const p = random.next()
      out += words[Math.floor(u * u * u * words.length)] as string
      out += p < 0.05 ? '. ' : p < 0.06 ? '.\n' : p < 0.065 ? ' "x", ' : ' '
    }
    return out.slice(0, chars)
  }
  const between = (a: number, b: number): number => a + random.below(b - a + 1)
  const iso = (ms: number): string =>
    `${new Date(ms).toISOString().slice(0, -1)}${String(random.below(1000)).padStart(3, '0')}Z`

  const inputsOf = (isLlm: boolean, model: string): Record<string, unknown> =>
    isLlm
      ? {
          model,
          messages: [
            { role: 'system', content: text(400) },
            { role: 'user', content: text(between(600, 1500)) },
          ],
          temperature: 0.2,
          max_tokens: 512,
        }
      : { query: text(between(300, 1400)), top_k: 8, context: `weave:///${project}/object/docs:${'Xa'.repeat(20)}` }

  type Tokens = { prompt_tokens: number; completion_tokens: number; total_tokens: number }
  const outputOf = (isLlm: boolean, model: string, usage: Tokens): Record<string, unknown> =>
    isLlm
      ? {
          id: `chatcmpl-${hex(12)}`,
          object: 'chat.completion',
          model,
          choices: [
            {
              index: 0,
              finish_reason: 'stop',
              message: { role: 'assistant', content: text(between(600, 1100)), refusal: null },
            },
          ],
          usage,
        }
      : { documents: [{ id: hex(8), score: random.next(), text: text(between(300, 900)) }], ok: true }

  const trace = (): BenchCall[] => {
    nowMs += stepMs * (0.5 + random.next())
    const traceId = uuid()
    const threadId = uuid()
    const calls: BenchCall[] = []
    kinds.forEach((kind, i) => {
      const id = uuid()
      const parent = i === 0 ? null : i < 5 ? calls[0]?.start.id : calls[between(1, 4)]?.start.id
      const isLlm = kind === 'chat'
      const model = random.pick(models)
      const startMs = nowMs + i * 120 + random.below(50)
      const endMs = i === 0 ? nowMs + 2200 : startMs + between(20, 900)
      const prompt = between(300, 700)
      const completion = between(120, 260)
      const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
      const inputs = inputsOf(isLlm, model)
      const output = outputOf(isLlm, model, usage)
      calls.push({
        kind,
        start: {
          project_id: project,
          id,
          op_name: `weave:///${project}/op/${kind}:${'Fq3'.repeat(14)}`,
          display_name: null,
          trace_id: traceId,
          parent_id: parent ?? null,
          thread_id: threadId,
          turn_id: i === 0 ? id : (calls[0]?.start.id ?? null),
          started_at: iso(startMs),
          attributes: {
            weave: { client_version: '0.52.1', source: 'python-sdk', os_name: 'Linux' },
            env: 'prod',
            session: hex(6),
          },
          inputs,
        },
        end: {
          project_id: project,
          id,
          ended_at: iso(endMs),
          exception: i === 7 && random.chance(0.05) ? `ValueError: ${text(80)}` : null,
          output,
          summary: {
            usage: isLlm ? { [model]: { requests: 1, ...usage } } : {},
            status_counts: { success: 1, error: 0 },
          },
        },
      })
    })
    return calls
  }
  let rest: BenchCall[] = []
  return {
    trace,
    upsertBatch(calls) {
      const batch: unknown[] = []
      for (let n = 0; n < calls; n++) {
        if (rest.length === 0) rest = trace()
        const call = rest.shift() as BenchCall
        batch.push({ mode: 'start', req: { start: call.start } }, { mode: 'end', req: { end: call.end } })
      }
      return JSON.stringify({ batch })
    },
  }
}
