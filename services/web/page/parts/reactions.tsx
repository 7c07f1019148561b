// 👍 and 👎 of a call: how many said so, and saying or taking back one's own.

import { type FeedbackItem, reactionOf } from '../engine/feedback.ts'
import { count } from '../engine/format.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import type { Giving } from './use-feedback.ts'

export const signs = [
  { emoji: '👍', name: 'Good', icon: 'good' },
  { emoji: '👎', name: 'Bad', icon: 'bad' },
] as const

/** Without `items`, nobody knows yet whether a click gives or takes back. */
type Props = { id: string; items: readonly FeedbackItem[] | undefined; giving: Giving }

export function Reactions({ id, items, giving }: Props) {
  const { add, remove, isOwn, isReadOnly, isBusy, reason, prefix } = giving
  return signs.map(({ emoji, name, icon }) => {
    const same = (items ?? []).filter((item) => reactionOf(item) === emoji)
    const own = same.find(isOwn)
    return (
      <Button
        key={emoji}
        disabled={isReadOnly || isBusy || items === undefined}
        title={reason}
        aria-pressed={own !== undefined}
        onClick={() =>
          own === undefined
            ? add.mutate({ id, feedback_type: `${prefix}.reaction.1`, payload: { emoji } })
            : remove.mutate(own.id)
        }
      >
        <Icon name={icon} /> {name}
        {same.length > 0 && <span className="num">{count(same.length)}</span>}
      </Button>
    )
  })
}
