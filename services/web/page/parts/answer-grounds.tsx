// Beside an answer: how likely the model found each part of it, and what it rests on.
import { useState } from 'react'
import { count } from '../engine/format.ts'
import type { Citation, Grounds, Token } from '../engine/grounds.ts'
import { followed } from '../engine/markdown.ts'
import { Button } from './button.tsx'
import { OutLink } from './markdown.tsx'
import { T } from './text.tsx'
import './answer-grounds.css'

/** More parts are more elements than are read. */
const maxShown = 2_000
const maxText = 200

/** Doubt from 0, almost certain, to 4. */
const doubtOf = (share: number): number => [0.9, 0.7, 0.5, 0.2].filter((bound) => share < bound).length
const shareText = (share: number): string => `${(share * 100).toFixed(share > 0.995 || share < 0.1 ? 2 : 0)} %`

function Likely({ tokens }: { tokens: readonly Token[] }) {
  const [isShown, setShown] = useState(false)
  const shares = tokens.map(({ logprob }) => Math.min(1, Math.exp(logprob)))
  const mean = tokens.reduce((sum, { logprob }) => sum + logprob, 0) / tokens.length
  return (
    <div>
      <Button aria-pressed={isShown} onClick={() => setShown(!isShown)}>
        Log probabilities
      </Button>{' '}
      <span className="second num">average {shareText(Math.min(1, Math.exp(mean)))}</span>
      {isShown && (
        <div className="said likely" dir="auto" role="group" aria-label="Probability of each token">
          {tokens.slice(0, maxShown).map(({ text }, place) => {
            const share = shares[place] as number
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
              <span key={place} className={`doubt-${doubtOf(share)}`} title={shareText(share)}>
                <T text={text} max={maxText} />
              </span>
            )
          })}
          {tokens.length > maxShown && <p className="dim">Showing the first {count(maxShown)} tokens.</p>}
        </div>
      )}
    </div>
  )
}

const Citations = ({ citations }: { citations: readonly Citation[] }) => (
  <section aria-label="Citations">
    <h3>Citations</h3>
    <ol className="citations">
      {citations.map(({ address, title }) => {
        const link = followed(address)
        const shown = <T text={title || address} max={maxText} />
        return <li key={address || ` ${title}`}>{link === null ? shown : <OutLink address={link}>{shown}</OutLink>}</li>
      })}
    </ol>
  </section>
)

export const AnswerGrounds = ({ tokens, citations }: Grounds) => (
  <>
    {citations.length > 0 && <Citations citations={citations} />}
    {tokens.length > 0 && <Likely tokens={tokens} />}
  </>
)
