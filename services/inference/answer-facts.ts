// Reads facts from the bytes of a whole answer: its usage, and failures in the form of a success.
import { enter, namesOf, nextItem, nextMember, skipValue } from '../content/json-scan.ts'
import { parseLossless, stringifyLossless } from '../core/json/lossless.ts'
import { isObject } from '../core/json/objects.ts'
import { startScan } from '../core/json/tokens.ts'
import { hasRoom, heapPerJsonByte } from '../core/memory/heap-room.ts'
import { type AnswerMembers, answerMember } from './answer-members.ts'
import { errorMember } from './answers.ts'
import { failedChoice } from './choices.ts'
import { usageIn } from './usage.ts'

type Json = Record<string, unknown>

/** Members that tell of errors; those of an answer without choices as well. */
const errorNames = ['error', 'type', 'object', 'code', 'base_resp']
const wordNames = ['message', 'detail']

export const factNames = ['choices', 'data', 'output', 'model', 'usage', ...errorNames, ...wordNames]

/** Longer values are no errors, and longer answers not searched for usage in members that nobody knows. */
const maxLength = 64 * 1024
const maxDepth = 1_000_000
const choiceNames = namesOf('finish_reason', 'native_finish_reason', 'error', 'usage')

function smallValue(text: string | undefined): unknown {
  return text === undefined || text.length > maxLength || !hasRoom(text.length * heapPerJsonByte)
    ? undefined
    : parseLossless(text)
}

/** The members of the choices beside their messages. */
function choicesOf({ bytes, places }: AnswerMembers): Json[] {
  const place = places.get('choices')
  if (place === undefined) return []
  const text = bytes.subarray(place.start, place.end)
  const scan = startScan(text, Math.min(maxDepth, text.length))
  const found: Json[] = []
  if (!enter(scan, 91)) return found
  while (nextItem(scan)) {
    const choice: Json = {}
    if (!enter(scan, 123)) {
      skipValue(scan)
      continue
    }
    for (let name = nextMember(scan, choiceNames); name !== -1; name = nextMember(scan, choiceNames)) {
      const start = scan.at
      skipValue(scan)
      choice[choiceNames.texts[name] as string] = smallValue(text.toString('utf8', start, scan.at))
    }
    if (Object.keys(choice).length > 0) found.push(choice)
  }
  return found
}

export type AnswerFacts = {
  /** JSON text. */
  usage: string | undefined
  /** `isAnswer`: there is something of an answer beside it. */
  failed: { error: unknown; isAnswer: boolean } | undefined
}

function failureIn(found: AnswerMembers, choices: readonly Json[], isChat: boolean): AnswerFacts['failed'] {
  const { bytes, close, places } = found
  if (close === undefined) {
    // Some answer with a list that holds the error.
    const error = bytes.length > maxLength ? undefined : errorMember(smallValue(bytes.toString()))
    return error === undefined ? undefined : { error, isAnswer: false }
  }
  const memberOf = (name: string) => [name, smallValue(answerMember(found, name))] as const
  const about = Object.fromEntries([...errorNames, ...wordNames].map(memberOf))
  const isAnswer =
    about.object === 'response' ||
    ['choices', 'data', 'output'].some((name) => /^[[{]\s*[^\]}\s]/.test(startOf(found, name)))
  const isOnlyWords = isChat && !places.has('choices') && wordNames.some((name) => about[name])
  const error = errorMember(about) ?? (isOnlyWords ? about : undefined)
  if (error !== undefined) return { error, isAnswer }
  const failed = failedChoice(choices)
  return failed === undefined ? undefined : { error: failed, isAnswer: true }
}

function startOf({ bytes, places }: AnswerMembers, name: string): string {
  const place = places.get(name)
  return place === undefined ? '' : bytes.toString('latin1', place.start, Math.min(place.end, place.start + 1_000))
}

function usageOf(found: AnswerMembers, choices: readonly Json[]): string | undefined {
  const text = answerMember(found, 'usage') ?? 'null'
  // An answer that is too large to be read has no usage. Recording fails no request.
  if (/^[[{]/.test(text)) return hasRoom(text.length * heapPerJsonByte) ? text : undefined
  const { bytes } = found
  const usage = usageIn({ choices }) ?? usageIn(bytes.length > maxLength ? undefined : smallValue(bytes.toString()))
  return isObject(usage) ? stringifyLossless(usage) : undefined
}

/** @param isChat an answer without choices that has nothing but words is an error */
export function answerFacts(found: AnswerMembers, isChat: boolean): AnswerFacts {
  const choices = choicesOf(found)
  return { usage: usageOf(found, choices), failed: failureIn(found, choices, isChat) }
}
