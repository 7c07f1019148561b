// Answers of annotation queues that are not stored by the server yet: kept by the browser, one entry for each item.

export type KeptAnswer = {
  /** Id of the feedback to create: sent twice it is stored once. */
  id: string
  spec: string
  ref: string
  value: unknown
  /** The feedback that it takes the place of. */
  earlier?: string | undefined
}
export type KeptItem = {
  userId: string
  /** First word of the feedback's type. */
  prefix: string
  projectId: string
  queueId: string
  itemId: string
  callId: string
  position: number | null
  state: 'completed' | 'skipped'
  answers: readonly KeptAnswer[]
}

type Box = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

const first = 'callhouse.answers '
const keyOf = ({ userId, projectId, queueId, itemId }: KeptItem): string =>
  `${first}${[userId, projectId, queueId, itemId].map(encodeURIComponent).join(' ')}`

function keysOf(box: Box): string[] {
  const keys: string[] = []
  for (let n = 0; n < box.length; n++) {
    const key = box.key(n)
    if (key?.startsWith(first)) keys.push(key)
  }
  return keys
}

const isItem = (value: unknown): value is KeptItem => {
  const { answers, state, ...texts } = (value ?? {}) as Record<string, unknown>
  return (
    ['userId', 'prefix', 'projectId', 'queueId', 'itemId', 'callId'].every((name) => typeof texts[name] === 'string') &&
    (state === 'completed' || state === 'skipped') &&
    Array.isArray(answers) &&
    answers.every((answer) => ['id', 'spec', 'ref'].every((name) => typeof answer?.[name] === 'string'))
  )
}

/** Whether something is kept, by whomever. */
export function hasKept(): boolean {
  try {
    return keysOf(localStorage).length > 0
  } catch {
    return false
  }
}

/** Those of a user, whoever else has used this browser; what cannot be read is left where it is. */
export function keptItems(box: Box, userId: string): KeptItem[] {
  return keysOf(box).flatMap((key) => {
    try {
      const item: unknown = JSON.parse(box.getItem(key) ?? '')
      return isItem(item) && item.userId === userId ? [item] : []
    } catch {
      return []
    }
  })
}

/** @returns whether the browser keeps it */
export function keepItem(box: Box, item: KeptItem): boolean {
  try {
    box.setItem(keyOf(item), JSON.stringify(item))
    return true
  } catch {
    return false
  }
}

/** Unless the item was answered again since. */
export function forgetItem(box: Box, item: KeptItem): void {
  try {
    if (box.getItem(keyOf(item)) === JSON.stringify(item)) box.removeItem(keyOf(item))
  } catch {
    // Storage may be closed to the page.
  }
}

/** Items in the states that they will have once their answers are stored. */
export const withKept = <Item extends { id: string; annotation_state: string }>(
  items: readonly Item[],
  kept: readonly Pick<KeptItem, 'itemId' | 'state'>[],
): Item[] => {
  const states = new Map(kept.map(({ itemId, state }) => [itemId, state]))
  return items.map((item) => {
    const state = states.get(item.id)
    return state === undefined ? item : { ...item, annotation_state: state }
  })
}

/** Statuses of answers that can never be stored: the answer, or the object that it belongs to, is refused. */
export const isRefusedForGood = (status: number): boolean => [400, 404, 409, 413, 422].includes(status)
