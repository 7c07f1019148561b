// Chunks of a streamed completion: what each says about the stream, and how they are kept for its call.
import { concatYielding } from '../core/concurrency/yielding.ts'
import { providerError } from './answers.ts'
import { errorObject } from './errors.ts'

export type ErrorObject = ReturnType<typeof errorObject>

export type ChunkFacts = {
  /** The error that a provider sent instead of a chunk. */
  failed?: { error: ErrorObject; status: number } | undefined
  isUsageOnly: boolean
  hasUsage: boolean
  /** A choice came to its end. */
  isFinished: boolean
}

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

function errorIn({ error }: Json, secrets: readonly string[]): ChunkFacts['failed'] {
  if (error === undefined || error === null) return undefined
  const refusal = providerError({ error }, secrets)
  const code = (error as { code?: unknown }).code
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : 502
  const details = { code: refusal?.code ?? null, param: refusal?.param ?? null }
  const made = errorObject(502, refusal?.message ?? 'The provider failed', details)
  return { status, error: refusal?.type === undefined ? made : { ...made, type: refusal.type } }
}

const isEnd = (choice: unknown): boolean =>
  isObject(choice) && choice.finish_reason !== undefined && choice.finish_reason !== null

/** @param secrets must not come out again */
export function chunkFacts(chunk: unknown, secrets: readonly string[]): ChunkFacts {
  if (!isObject(chunk)) return { isUsageOnly: false, hasUsage: false, isFinished: false }
  const choices: unknown[] | undefined = Array.isArray(chunk.choices) ? chunk.choices : undefined
  const hasUsage = isObject(chunk.usage)
  return {
    failed: errorIn(chunk, secrets),
    isUsageOnly: choices?.length === 0 && hasUsage,
    hasUsage,
    isFinished: choices?.some(isEnd) === true,
  }
}

/** Stands in no JSON text (RFC 7464). */
const separator = '\x1e'

/** Characters of a streamed answer that its trace keeps. */
export const maxTracedLength = 16 * 1024 * 1024
/** Beyond it so many of chunks that tell of an end or of usage. */
const maxEndsLength = 1024 * 1024

export function createKeptChunks() {
  const pieces: Buffer[] = []
  let left = maxTracedLength
  let endsLeft = maxEndsLength
  let size = 0
  return {
    add(data: string, { isFinished, hasUsage }: ChunkFacts): void {
      left -= data.length
      if (left < 0) {
        if (isFinished || hasUsage) endsLeft -= data.length
        if (!(isFinished || hasUsage) || endsLeft < 0) return
      }
      const piece = Buffer.from(data + separator)
      size += piece.length
      pieces.push(piece)
    },
    bytes: () => size,
    all: () => concatYielding(pieces, size),
  }
}

/** The chunks' texts, one by one: all of them are megabytes. */
export function* chunkTexts(kept: Buffer): Generator<string> {
  for (let from = 0; from < kept.length; ) {
    const end = kept.indexOf(separator, from)
    yield kept.toString('utf8', from, end)
    from = end + 1
  }
}
