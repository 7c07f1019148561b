// Chunks of a streamed answer: what each says about the stream, and how they are kept for its call.
import { concatYielding } from '../core/concurrency/yielding.ts'
import { isAnswerEvent, isLastEvent } from './aggregate-events.ts'
import { errorMember, faultOfError, statusOfError } from './answers.ts'
import { failedChoice } from './choices.ts'
import type { errorObject } from './errors.ts'
import { usageIn } from './usage.ts'

export type ErrorObject = ReturnType<typeof errorObject>

export type ChunkFacts = {
  /** The error that a provider sent. */
  failed?: { error: ErrorObject; status: number; isChoice: boolean } | undefined
  /** It belongs to an answer of a known form. */
  isAnswer: boolean
  isUsageOnly: boolean
  hasUsage: boolean
  /** A choice, or the whole answer, came to its end. */
  isFinished: boolean
}

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null

function failureIn(chunk: unknown, secrets: readonly string[]): ChunkFacts['failed'] {
  const whole = errorMember(chunk)
  const error = whole ?? (isObject(chunk) ? failedChoice(chunk.choices, chunk.native_finish_reason) : undefined)
  if (error === undefined) return undefined
  const { body } = faultOfError(error, secrets)
  return { status: statusOfError(error), error: body.error as ErrorObject, isChoice: whole === undefined }
}

const isEnd = (choice: unknown): boolean =>
  isObject(choice) && choice.finish_reason !== undefined && choice.finish_reason !== null

/** @param secrets must not come out again */
export function chunkFacts(chunk: unknown, secrets: readonly string[]): ChunkFacts {
  if (!isObject(chunk)) return { isAnswer: false, isUsageOnly: false, hasUsage: false, isFinished: false }
  const choices: unknown[] | undefined = Array.isArray(chunk.choices) ? chunk.choices : undefined
  return {
    failed: failureIn(chunk, secrets),
    isAnswer: choices !== undefined || isAnswerEvent(chunk),
    isUsageOnly: choices?.length === 0 && isObject(chunk.usage),
    hasUsage: isObject(usageIn(chunk)),
    isFinished: choices?.some(isEnd) === true || isLastEvent(chunk),
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
