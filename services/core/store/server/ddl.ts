// The one tree of migrations in the form that a server or a cluster wants: pure functions from statement to statements.

import { splitStatements, sqlSpans } from '../sql-text.ts'
import { allShards, renamed, stageOf, type WorkerTables } from './names.ts'

export type ServerShape = {
  database: string
  /** Name of the cluster whose nodes all get the tables; absent: one server. */
  cluster?: string
  /** Tables and views of the migrations that each worker has of its own. */
  scratch: readonly string[]
}

const create = /^CREATE (?:TABLE|MATERIALIZED VIEW|VIEW) IF NOT EXISTS callhouse\.(\w+)/
const alter = /^ALTER TABLE callhouse\.(\w+)/
const drop = /^DROP (?:TABLE|VIEW) IF EXISTS callhouse\.(\w+)/
/** Changes code, not texts and comments. */
const inCode = (sql: string, change: (text: string) => string): string =>
  sqlSpans(sql)
    .map(({ kind, text }) => (kind === 'code' ? change(text) : text))
    .join('')
const code = (sql: string): string =>
  sqlSpans(sql)
    .filter(({ kind }) => kind === 'code')
    .map(({ text }) => text)
    .join(' ')

const engine = /\bENGINE = (\w*MergeTree)\b(?:\(([^()]*)\))?/

/** The table or view that a statement makes or changes. */
const targetOf = (sql: string): string | undefined => (create.exec(sql) ?? alter.exec(sql) ?? drop.exec(sql))?.[1]

/** Whether the statement belongs to each worker's own tables rather than to the installation. */
const isForScratch = (sql: string, scratch: readonly string[]): boolean => {
  const target = targetOf(sql)
  return target !== undefined && scratch.includes(target)
}

type Rule = {
  /** Whether the rule is for the statement; the first rule that fits is used. */
  fits(sql: string): boolean
  /** Statements in place of it, still in the program's names. */
  to(sql: string, cluster: string): string[]
}

/** Rules of a cluster: every node has the tables, their rows are replicated, and reads go through a Distributed table. */
const clusterRules: readonly Rule[] = [
  {
    fits: (sql) => create.test(sql) && engine.test(code(sql)),
    to: (sql, cluster) => [onCluster(replicated(sql), cluster), distributed(targetOf(sql) as string, cluster)],
  },
  { fits: (sql) => create.test(sql), to: (sql, cluster) => [onCluster(sql, cluster)] },
  {
    fits: (sql) => alter.test(sql) && !(targetOf(sql) as string).endsWith('_in') && columnActions(sql).length > 0,
    to: (sql, cluster) => [
      onCluster(sql, cluster),
      `ALTER TABLE callhouse.${allShards(targetOf(sql) as string)} ON CLUSTER ${cluster} ${columnActions(sql).join(', ')}`,
    ],
  },
  { fits: (sql) => alter.test(sql), to: (sql, cluster) => [onCluster(sql, cluster)] },
  {
    fits: (sql) => /^DROP TABLE/.test(sql),
    to: (sql, cluster) => [
      onCluster(`DROP TABLE IF EXISTS callhouse.${allShards(targetOf(sql) as string)}`, cluster),
      onCluster(sql, cluster),
    ],
  },
  { fits: (sql) => drop.test(sql), to: (sql, cluster) => [onCluster(sql, cluster)] },
  { fits: () => true, to: (sql) => [sql] },
]

/** Replica paths are the server's default, which follows the table's id: a table of the same name can be made again. */
const replicated = (sql: string): string =>
  inCode(sql, (text) =>
    text.replace(
      engine,
      (_, name: string, args: string | undefined) => `ENGINE = Replicated${name}${args ? `(${args})` : ''}`,
    ),
  )

const onCluster = (sql: string, cluster: string): string => {
  const pattern = [create, alter, drop].find((one) => one.test(sql)) as RegExp
  return sql.replace(pattern, (head) => `${head} ON CLUSTER ${cluster}`)
}

const distributed = (table: string, cluster: string): string =>
  `CREATE TABLE IF NOT EXISTS callhouse.${allShards(table)} ON CLUSTER ${cluster} AS callhouse.${table}\n` +
  `ENGINE = Distributed(${cluster}, currentDatabase(), ${table})`

/** The parts of an ALTER that change columns, for the table that only passes reads on. */
function columnActions(sql: string): string[] {
  const actions: string[] = ['']
  let depth = 0
  for (const { kind, text } of sqlSpans(sql.replace(alter, ''))) {
    if (kind !== 'code') {
      actions[actions.length - 1] += text
      continue
    }
    for (const char of text) {
      if (char === '(') depth++
      else if (char === ')') depth--
      if (char === ',' && depth === 0) actions.push('')
      else actions[actions.length - 1] += char
    }
  }
  return actions
    .map((action) => action.trim())
    .filter((action) => /^(?:ADD|DROP|MODIFY|RENAME|COMMENT) COLUMN\b/.test(action))
    .map((action) => action.replace(/ (?:CODEC|SETTINGS) ?\((?:[^()]|\([^()]*\))*\)/g, ''))
}

/**
 * The statements that a server runs for one statement of a migration; none for the tables that each worker makes for
 * itself.
 */
export function serverStatements(sql: string, { database, cluster, scratch }: ServerShape): string[] {
  if (isForScratch(sql, scratch)) return []
  const rule = clusterRules.find(({ fits }) => fits(sql))
  const statements = cluster === undefined ? [sql] : (rule as Rule).to(sql, cluster)
  return statements.map((statement) =>
    renamed(statement, (table) => `${database}.${table}`).replace('currentDatabase()', database),
  )
}

/** Tables whose rows are replicated, each with a table that reads every shard. */
export const spreadTables = (migrations: readonly string[], scratch: readonly string[]): Set<string> =>
  new Set(
    migrations
      .flatMap(splitStatements)
      .filter((sql) => create.test(sql) && engine.test(code(sql)) && !isForScratch(sql, scratch))
      .map((sql) => targetOf(sql) as string),
  )

/**
 * The statements that make one worker's tables, from the same migrations: the scratch tables of the merge, and a table
 * per landing table in which the rows of a batch are counted before they go on.
 */
export function scratchStatements(
  migrations: readonly string[],
  options: { database: string; suffix: string } & WorkerTables,
): string[] {
  const { database, suffix, landings, scratch } = options
  const stages = landings.map(
    (landing) =>
      `CREATE TABLE IF NOT EXISTS ${database}.${stageOf(landing)}${suffix} AS ${database}.${landing} ENGINE = Memory`,
  )
  const own = (table: string): string => {
    if (landings.includes(table)) return `${database}.${stageOf(table)}${suffix}`
    return `${database}.${scratch.includes(table) ? `${table}${suffix}` : table}`
  }
  return [
    ...stages,
    ...migrations
      .flatMap(splitStatements)
      .filter((sql) => isForScratch(sql, scratch))
      .map((sql) => renamed(sql, own)),
  ]
}
