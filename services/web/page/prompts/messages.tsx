// Messages of a prompt with their variables marked, or against those of another version, by words.
import { variablePieces } from '../engine/variables.ts'
import { T } from '../parts/text.tsx'
import { Words } from '../parts/words.tsx'
import { type MessagePair, type ShownMessage, versionPairs } from './versions.ts'

const maxShown = 65_536

const Marked = ({ text }: { text: string }) =>
  variablePieces(text.slice(0, maxShown)).map(({ text: piece, isVariable }, n) =>
    isVariable ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never move
      <mark key={n} className="variable">
        <T text={piece} max={60} />
      </mark>
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never move
      <T key={n} text={piece} max={maxShown} />
    ),
  )

const Notes = ({ notes }: Pick<ShownMessage, 'notes'>) =>
  notes.length > 0 && (
    <p className="second">
      <T text={notes.join(', ')} max={400} />
    </p>
  )

export const PromptMessages = ({ messages }: { messages: readonly ShownMessage[] }) => (
  <ol className="prompt-messages" aria-label="Messages">
    {messages.map((message, n) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: messages of a version stay where they are
      <li key={n} className={`message by-${message.role}`}>
        <h4>{message.role}</h4>
        <div className="said" dir="auto">
          <Marked text={message.text} />
        </div>
        <Notes notes={message.notes} />
      </li>
    ))}
  </ol>
)

const stateOf = ({ before, now, isEqual }: MessagePair): string | undefined =>
  isEqual ? undefined : before === undefined ? 'added' : now === undefined ? 'removed' : 'changed'

type AgainstProps = { before: readonly ShownMessage[]; now: readonly ShownMessage[] }

/** Text that was removed and added against another version. */
export function MessageDifferences({ before, now }: AgainstProps) {
  const pairs = versionPairs(before, now)
  return (
    <>
      {pairs.every(({ isEqual }) => isEqual) && <p className="second">The messages are the same.</p>}
      <ol className="prompt-messages" aria-label="Differences of the messages">
        {pairs.map((pair, n) => {
          const message = (pair.now ?? pair.before) as ShownMessage
          const state = stateOf(pair)
          const wasOther = pair.before !== undefined && pair.before.role !== message.role
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages of a version stay where they are
            <li key={n} className={`message by-${message.role}`}>
              <h4>
                {message.role} {wasOther && <del>{pair.before?.role}</del>}{' '}
                {state && <span className={`state ${state}`}>{state}</span>}
              </h4>
              <div className="said" dir="auto">
                {state === undefined ? (
                  <Marked text={message.text} />
                ) : (
                  <Words before={pair.before?.text ?? ''} now={pair.now?.text ?? ''} max={maxShown} isWhole />
                )}
              </div>
              <Notes notes={message.notes} />
            </li>
          )
        })}
      </ol>
    </>
  )
}
