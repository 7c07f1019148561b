// Destination of a ClickHouse server's backup, in the server's own words: `Disk('backups', '2026-01-31')`,
// `S3('https://…')`.

export type Destination = {
  /** SQL of the destination: a name, and in brackets nothing but literals and plain names. */
  sql: string
  /** Without what may be a secret. */
  shown: string
  /** Whether what is shown is all of it. */
  isWhole: boolean
}

const kinds = ['Disk', 'File', 'S3', 'AzureBlobStorage']
/** A literal or a name, or a setting of a named collection: `key = 'value'`. */
const argument = /\s*(?:(\w+)\s*=\s*)?('(?:[^'\\]|\\[\s\S])*'|\w+)\s*(,|$)/y

/** @throws Error with a line for the operator */
export function parseDestination(text: string): Destination {
  const refused = new Error(
    `${JSON.stringify(text)} is no destination: ${kinds.join(', ')} with texts in brackets, as in Disk('backups', '2026-01-31')`,
  )
  const [, kind = '', inside = ''] = /^\s*(\w+)\s*\(([\s\S]*)\)\s*$/.exec(text) ?? []
  if (!kinds.includes(kind)) throw refused
  const given: { key: string | undefined; value: string }[] = []
  argument.lastIndex = 0
  for (let goesOn = true; goesOn; ) {
    const [, key, value = '', after] = argument.exec(inside) ?? []
    if (value === '') throw refused
    given.push({ key, value })
    goesOn = after === ','
  }
  const textOf = ({ key, value }: (typeof given)[number]) => (key === undefined ? value : `${key} = ${value}`)
  // A disk, a folder or a named collection has no secrets; behind an address come keys, and in one of Azure.
  const isPlain = ['Disk', 'File'].includes(kind)
  const isNamed = !given[0]?.value.startsWith("'")
  const shown = given.filter(({ key }, at) => isPlain || (isNamed ? key === undefined : at === 0 && kind === 'S3'))
  return {
    sql: `${kind}(${given.map(textOf).join(', ')})`,
    shown: `${kind}(${[...shown.map(textOf), ...(shown.length < given.length ? ['…'] : [])].join(', ')})`,
    isWhole: shown.length === given.length,
  }
}
