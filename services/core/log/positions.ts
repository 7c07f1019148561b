// The text form of log positions: `calls=123`, several separated by commas, `calls.3=123` for partition 3.
import { malformed } from '../errors.ts'
import type { Position } from './log.ts'

export const positionHeader = 'X-Callhouse-Position'

export const formatPositions = (positions: Position[]): string =>
  positions.map((p) => `${p.topic}${p.partition ? `.${p.partition}` : ''}=${p.offset}`).join(',')

/**
 * Parses the header of a read.
 * @param topics names of the log's topics
 * @throws Refusal `malformed` when it is not a list of positions
 */
export function parsePositions(text: string, topics: readonly string[]): Position[] {
  return text.split(',').map((part) => {
    const match = /^\s*([a-z_]+)(?:\.(\d{1,5}))?=(\d{1,15})\s*$/.exec(part)
    const [, topic = ''] = match ?? []
    if (!match || !topics.includes(topic))
      throw malformed(`Invalid ${positionHeader}: ${JSON.stringify(part.slice(0, 100))}`)
    return { topic, partition: Number(match[2] ?? 0), offset: Number(match[3]) }
  })
}
