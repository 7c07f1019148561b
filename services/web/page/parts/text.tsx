// Recorded text in a row or a heading: isolated, cut, and with marks where a character deceives.
import { memo } from 'react'
import { age, moment } from '../engine/format.ts'
import { piecesOf, plainOf } from '../engine/safe-text.ts'

export const T = memo(function T({ text, max = 300 }: { text: string; max?: number }) {
  const pieces = piecesOf(text, max)
  const [only] = pieces
  const isPlain = pieces.length === 1 && typeof only === 'string'
  return (
    <bdi className="t" dir="auto" {...(isPlain && text.length < 40 ? {} : { title: plainOf(text, 1_000) })}>
      {isPlain
        ? only
        : pieces.map((piece, place) =>
            typeof piece === 'string' ? (
              piece
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never move
              <span key={place} className="mark" title={piece.code}>
                {piece.mark}
              </span>
            ),
          )}
    </bdi>
  )
})

/** Recorded text that stands back. */
export const Second = (props: { text: string; max?: number }) => (
  <span className="second">
    <T {...props} />
  </span>
)

export const Moment = ({ at, zone }: { at: string; zone: string }) => (
  <span className="second" title={at}>
    {moment(at, zone)}
  </span>
)

/** The age of something, and who made it. */
export const AgeBy = ({ at, by }: { at: string; by: string }) => (
  <span className="second" title={at}>
    {age(at)} by <T text={by} max={60} />
  </span>
)
