// Where an annotator goes on in a queue: at open items, then at those that only others have answered.
import type { Annotation } from './question-specs.ts'

type Placed = { call_id: string; annotation_state: string }

export const isOpen = ({ annotation_state: state }: Placed): boolean => state === 'unstarted' || state === 'in_progress'

/** Calls that a person has answered himself, with those whose answers are on their way. */
export const answeredBy = (
  userId: string | null | undefined,
  said: readonly Pick<Annotation, 'callId' | 'userId' | 'by'>[],
  waiting: readonly { callId: string }[],
): ReadonlySet<string> =>
  new Set([...said.filter((one) => one.userId === userId && one.by === userId), ...waiting].map(({ callId }) => callId))

/**
 * The place of the item that comes next, round the queue; -1 where none is left.
 * @param answered calls that this person has answered; null where open items alone are meant
 * @param after the place of the item that was shown last
 */
export function nextToAnswer(items: readonly Placed[], answered: ReadonlySet<string> | null, after = -1): number {
  const round = items.map((_, n) => (after + 1 + n) % items.length).filter((n) => n !== after)
  const of = (isMeant: (item: Placed) => boolean): number => round.find((n) => isMeant(items[n] as Placed)) ?? -1
  const open = of(isOpen)
  if (open !== -1 || answered === null) return open
  return of(({ call_id, annotation_state: state }) => state === 'completed' && !answered.has(call_id))
}

/** The words of the button that leads to the next item. */
export const startWords = (next: Placed | undefined): string => {
  if (next === undefined) return 'Review answers'
  return isOpen(next) ? 'Continue labeling' : 'Add your answers'
}
