// The exception of a span, in the box of its failure: type and message, the stack folded below them.
import type { Thrown } from '../engine/thrown.ts'
import { Button } from '../parts/button.tsx'
import { T } from '../parts/text.tsx'

type ListProps = {
  all: readonly Thrown[]
  /** Spans also record what they have caught. */
  hasFailed: boolean
}

export const ThrownList = ({ all, hasFailed }: ListProps) =>
  all.map((one, place) => (
    <div
      // biome-ignore lint/suspicious/noArrayIndexKey: what a span has thrown does not move
      key={place}
      className={hasFailed ? 'thrown' : 'thrown caught'}
      tabIndex={0}
      role="group"
      aria-label={hasFailed ? 'Exception' : 'Recorded exception'}
    >
      {one.type !== '' && (
        <strong>
          <T text={one.type} max={400} />
          {one.message !== '' && ': '}
        </strong>
      )}
      <T text={one.message} max={20_000} />
      {one.stack !== '' && <Stack text={one.stack} />}
    </div>
  ))

function Stack({ text }: { text: string }) {
  return (
    <details>
      <summary>Stack trace</summary>
      <pre>
        <T text={text} max={100_000} />
      </pre>
      <Button onClick={() => void navigator.clipboard.writeText(text)}>Copy stack trace</Button>
    </details>
  )
}
