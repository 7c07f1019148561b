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

const words = vocabulary(createRandom(7))

/** Seeded values of one benchmark, in the order in which they are drawn. */
type Source = { random: Random; project: string; nowMs: number }

const hex = ({ random }: Source, bytes: number): string =>
  Array.from({ length: bytes }, () => random.below(256).toString(16).padStart(2, '0')).join('')

function uuid(source: Source): string {
  const time = Math.floor(source.nowMs).toString(16).padStart(12, '0')
  const rest = hex(source, 10)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-a${rest.slice(3, 6)}-${rest.slice(6, 18)}`
}

const between = ({ random }: Source, a: number, b: number): number => a + random.below(b - a + 1)

/** Words with a heavy head, so that the text compresses like prose. */
function textOf({ random }: Source, chars: number): string {
  let out = ''
  while (out.length < chars) {
    const u = random.next()
    const p = random.next()
    out += words[Math.floor(u * u * u * words.length)] as string
    out += p < 0.05 ? '. ' : p < 0.06 ? '.\n' : p < 0.065 ? ' "x", ' : ' '
  }
  return out.slice(0, chars)
}

/** Between so many characters. */
const someText = (source: Source, least: number, most: number): string => textOf(source, between(source, least, most))

const iso = ({ random }: Source, ms: number): string =>
  `${new Date(ms).toISOString().slice(0, -1)}${String(random.below(1000)).padStart(3, '0')}Z`

const inputsOf = (source: Source, isLlm: boolean, model: string): Record<string, unknown> =>
  isLlm
    ? {
        model,
        messages: [
          { role: 'system', content: textOf(source, 400) },
          { role: 'user', content: someText(source, 600, 1500) },
        ],
        temperature: 0.2,
        max_tokens: 512,
      }
    : {
        query: someText(source, 300, 1400),
        top_k: 8,
        context: `weave:///${source.project}/object/docs:${'Xa'.repeat(20)}`,
      }

type Tokens = { prompt_tokens: number; completion_tokens: number; total_tokens: number }

function outputOf(source: Source, isLlm: boolean, model: string, usage: Tokens): Record<string, unknown> {
  if (!isLlm) {
    const document = { id: hex(source, 8), score: source.random.next(), text: someText(source, 300, 900) }
    return { documents: [document], ok: true }
  }
  const id = `chatcmpl-${hex(source, 12)}`
  const message = { role: 'assistant', content: someText(source, 600, 1100), refusal: null }
  return { id, object: 'chat.completion', model, choices: [{ index: 0, finish_reason: 'stop', message }], usage }
}

/** Ids that the calls of a trace share, and the calls before. */
type Around = { traceId: string; threadId: string; calls: readonly BenchCall[] }

function callOf(source: Source, i: number, { traceId, threadId, calls }: Around): BenchCall {
  const { random, project, nowMs } = source
  const kind = kinds[i] as string
  const id = uuid(source)
  const parent = i === 0 ? null : i < 5 ? calls[0]?.start.id : calls[between(source, 1, 4)]?.start.id
  const isLlm = kind === 'chat'
  const model = random.pick(models)
  const startMs = nowMs + i * 120 + random.below(50)
  const endMs = i === 0 ? nowMs + 2200 : startMs + between(source, 20, 900)
  const prompt = between(source, 300, 700)
  const completion = between(source, 120, 260)
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  const inputs = inputsOf(source, isLlm, model)
  const output = outputOf(source, isLlm, model, usage)
  return {
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
      started_at: iso(source, startMs),
      attributes: {
        weave: { client_version: '0.52.1', source: 'python-sdk', os_name: 'Linux' },
        env: 'prod',
        session: hex(source, 6),
      },
      inputs,
    },
    end: {
      project_id: project,
      id,
      ended_at: iso(source, endMs),
      exception: i === 7 && random.chance(0.05) ? `ValueError: ${textOf(source, 80)}` : null,
      output,
      summary: {
        usage: isLlm ? { [model]: { requests: 1, ...usage } } : {},
        status_counts: { success: 1, error: 0 },
      },
    },
  }
}

function traceOf(source: Source, stepMs: number): BenchCall[] {
  source.nowMs += stepMs * (0.5 + source.random.next())
  const traceId = uuid(source)
  const threadId = uuid(source)
  const calls: BenchCall[] = []
  for (let i = 0; i < kinds.length; i++) calls.push(callOf(source, i, { traceId, threadId, calls }))
  return calls
}

/** @param stepMs time between traces: small = a dense minute, large = calls spread over weeks */
export function createPayloads(
  seed = 1,
  project = 'acme/support-bot',
  startMs = Date.now() - 3_600_000,
  stepMs = 20,
): Payloads {
  const source: Source = { random: createRandom(seed), project, nowMs: startMs }
  const trace = () => traceOf(source, stepMs)
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
