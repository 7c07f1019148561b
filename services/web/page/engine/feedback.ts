// Texts and figures of items of feedback.

export type FeedbackItem = {
  id: string
  weave_ref: string
  feedback_type: string
  payload: Record<string, unknown>
  created_at: string
} & Record<string, unknown>

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** The type without the prefix of its program. */
const nameOf = (type: string): string => type.replace(/^\w+\.(?=\w+\.)/, '')

export const isReaction = (type: string): boolean => nameOf(type) === 'reaction.1'

/** The sign of a reaction; null for all other feedback. */
export const reactionOf = ({ feedback_type, payload }: FeedbackItem): string | null =>
  isReaction(feedback_type) ? asText(payload.emoji) : null

/** The text of an item. */
export function saidBy({ feedback_type: type, payload }: FeedbackItem): [title: string, text: string] {
  const name = nameOf(type)
  if (name === 'reaction.1') return ['Reaction', asText(payload.emoji)]
  if (name === 'note.1') return ['Note', asText(payload.note)]
  if (name.startsWith('annotation.')) return [name.slice('annotation.'.length), asText(payload.value)]
  if (name.startsWith('runnable.')) return [name.slice('runnable.'.length), asText(payload.output)]
  return [type, asText(payload)]
}

export type FeedbackSummary = {
  /** Number of items by reaction, the commonest first. */
  reactions: [sign: string, count: number][]
  /** The latest of each annotation and score, in the order of their first. */
  values: [name: string, text: string][]
  notes: number
}

export function summaryOf(items: readonly FeedbackItem[]): FeedbackSummary {
  const reactions = new Map<string, number>()
  const values = new Map<string, string>()
  let notes = 0
  for (const item of items) {
    const sign = reactionOf(item)
    const [title, text] = saidBy(item)
    if (sign !== null) reactions.set(sign, (reactions.get(sign) ?? 0) + 1)
    else if (nameOf(item.feedback_type) === 'note.1') notes++
    else values.set(title, text)
  }
  return { reactions: [...reactions].sort(([, a], [, b]) => b - a), values: [...values], notes }
}
