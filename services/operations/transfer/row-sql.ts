// SQL that writes a stored row as the line of the log it came from: the columns of the topic in their order, defaults left out.
import type { Topic } from '../../core/log/topics.ts'

/** SQL expression of each column that a line holds, by the name of the column. */
export type Cells = Readonly<Record<string, string>>

/** Columns of JSON texts: nested as they came where they can be, else as a string that holds the text. */
const documents = new Set(['attributes', 'inputs', 'output', 'summary', 'otel_dump', 'val', 'payload'])

/** A text that the engine finds valid and that stays on one line may stand there as it is; a string always may. */
const nested = (cell: string): string =>
  `if(substring(${cell}, 1, 1) IN ('{', '[') AND position(${cell}, '\\n') = 0 AND isValidJSON(${cell}), ${cell}, toJSONString(${cell}))`

function cellOf(name: string, type: string, cell: string): { isDefault: string; text: string } {
  if (/^(Array|Map)/.test(type)) return { isDefault: `empty(${cell})`, text: `toJSONString(${cell})` }
  if (documents.has(name)) return { isDefault: `${cell} = ''`, text: nested(cell) }
  if (type === 'String') return { isDefault: `${cell} = ''`, text: `toJSONString(toString(${cell}))` }
  if (type.startsWith('Nullable')) return { isDefault: `isNull(${cell})`, text: `toJSONString(assumeNotNull(${cell}))` }
  if (type.startsWith('Enum')) return { isDefault: '0', text: `toJSONString(toString(${cell}))` }
  const fallback = / DEFAULT (\S+)$/.exec(type)?.[1] ?? '0'
  return { isDefault: `${cell} = ${fallback}`, text: `toString(${cell})` }
}

/** The line, without its end. The topic's first column must be among the cells. */
export function rowSql(topic: Topic, cells: Cells): string {
  const parts: string[] = []
  for (const [name, type] of topic.columns) {
    const cell = cells[name]
    if (cell === undefined) continue
    const { isDefault, text } = cellOf(name, type, cell)
    const value = isDefault === '0' ? text : undefined
    if (parts.length === 0) parts.push(`'{"${name}":'`, text)
    else if (value !== undefined) parts.push(`',"${name}":'`, value)
    else parts.push(`if(${isDefault}, '', concat(',"${name}":', ${text}))`)
  }
  const unknown = Object.keys(cells).find((name) => !topic.columns.some(([column]) => column === name))
  if (unknown !== undefined) throw new Error(`the topic ${topic.name} has no column ${unknown}`)
  return `concat(${[...parts, `'}'`].join(', ')})`
}
