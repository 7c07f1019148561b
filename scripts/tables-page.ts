// `npm run tables`: writes docs/tables.md from the declarations of services/tables.
import { fileURLToPath } from 'node:url'
import type { Aged, Erasable } from '../services/tables/declaration.ts'
import { type DeclaredTable, tableColumns, tables, tableViews } from '../services/tables/registry.ts'
import { generatedPage } from './generated-page.ts'

const introduction = `# Tables

Written by \`npm run tables\` from \`services/tables\`; \`npm run check\` refuses a page that is behind, and \`test/engine/declared-tables.test.ts\` a declaration that is not what the migrations make. Landing tables (\`…_in\`) have the columns of their topic in [events](events.md). A table without an age keeps its rows. All tables but those in memory are in backups. A table that is not exported follows from others, or belongs to the installation. Where nothing is erased, rows go with their project only.
`

const code = (text: string): string => `\`${text}\``
const agedBy = ({ by, of }: Aged<string>): string => `${code(by)} is older than the retention of ${of}`

function erasedWith(erased: Erasable): string {
  if ('unnamed' in erased) return 'rows that nothing else names any more'
  if ('values' in erased)
    return `entries of ${['at', ...erased.values].map(code).join(', ')} at the times of erased payloads`
  const until = 'isLater' in erased ? ', unless they came after its delete' : ''
  if ('call' in erased)
    return `rows whose ${code(erased.call)} is an erased call${erased.where ? `, if ${code(erased.where)}` : ''}${until}`
  if ('ref' in erased) return `rows whose ${code(erased.ref)} is an erased call${until}`
  return `rows whose ${code(erased.record)} is an erased log record${erased.isCall ? ', or a call that is one' : ''}`
}

const dropped: Record<NonNullable<DeclaredTable['dropped']>, string> = {
  logs: 'the retention of log records of all projects',
  joins: 'the retention of log records that can be derived again',
  due: 'two days',
  usage: 'thirteen months',
}

function* factsOf(table: DeclaredTable): Generator<string> {
  const { name, rollup, hidden, purged } = table
  if (rollup) yield `Recomputed for dirty buckets by the rollup ${code(rollup)}`
  const views = tableViews.filter(({ target }) => target === name)
  for (const [source, own] of Map.groupBy(views, (view) => view.source))
    yield `Filled from ${code(source)} by ${own.map((view) => code(view.name)).join(', ')}`
  if (hidden) yield `Hidden: rows whose ${agedBy(hidden)}`
  if (purged) yield purged === 'aside' ? 'Purged by a job of its own' : `Purged: rows whose ${agedBy(purged)}`
  if (table.dropped) yield `Partitions are dropped after ${dropped[table.dropped]}`
  if (table.erased) yield `Erased: ${erasedWith(table.erased)}`
  if (table.outlastsProject) yield 'Stays when its project is removed'
  if (table.exported) yield 'Exported'
}

const sectionOf = (table: DeclaredTable): string => `
## ${table.name}

${table.about} ${[...factsOf(table)].map((fact) => `${fact}. `).join('')}${code(table.engine)}

${tableColumns(table)
  .map(([name, type]) => code(`${name} ${type}`))
  .join(', ')}
`

export const tablesPage = generatedPage('docs/tables.md', 'services/tables', 'tables', () =>
  [introduction, ...tables.map(sectionOf)].join(''),
)

if (process.argv[1] === fileURLToPath(import.meta.url)) tablesPage.write()
