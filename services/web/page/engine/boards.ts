// The dashboards that every project has, and what a dashboard is made of.
import { pathsOf } from './filter-fields.ts'

export const panelTypes = {
  lines: 'Lines',
  bars: 'Bars',
  stack: 'Stack',
  heat: 'Latency heat map',
  histogram: 'Field histogram',
  table: 'Table',
  number: 'Number',
} as const
export type PanelType = keyof typeof panelTypes

export type Panel = {
  title: string
  type: PanelType
  /** A measure of measures.ts, or `avg output.score`. */
  measure: string
  /** The field that separates groups: `op_name`, `model`, `user`, `error_kind`, `status`, or a field. */
  by?: string | undefined
  /** Groups within those. */
  by2?: string | undefined
  /** Terms of a filter beside that of the page. */
  filter?: string | undefined
  isWide?: boolean | undefined
}

/** Rows of a table. */
export const rankedGroups = 10

/** Groups that aggregates know by these names; others are fields. */
const groupNames = new Set(['op_name', 'user', 'thread_id', 'model', 'status', 'exception', 'error_kind'])

/** A field by its name in a filter as an aggregate reads it; what programs send lies in attributes of calls, or of spans. */
export function fieldAsked(name: string): string {
  const [first, second] = pathsOf(name)
  return second === undefined ? first : `either ${first} or ${second}`
}

const fieldOfGroup = (by: string): string => (groupNames.has(by) ? by : fieldAsked(by))

/** The names of a panel's groups. */
export const groupNamesOf = ({ by, by2 }: Pick<Panel, 'by' | 'by2'>): string[] =>
  [by, by2].filter((one) => one !== undefined)

/** The field that separates a panel's groups, where it is one that calls may lack. */
export const fieldOfPanel = ({ by }: Pick<Panel, 'by'>): string | undefined =>
  by === undefined || groupNames.has(by) ? undefined : by

const mostRead = 1_000_000

/** Whether to group so many calls by a field takes seconds: their documents are read. */
export const areManyToRead = (calls: number): boolean => calls > mostRead

/** Groups in the form of an aggregate request. */
export const groupsOf = (panel: Pick<Panel, 'by' | 'by2'>): string[] => groupNamesOf(panel).map(fieldOfGroup)

export type Board = { title: string; panels: readonly Panel[] }

const latency: Panel = { title: 'Latency', type: 'lines', measure: 'latency' }
const tokensByModel: Panel = { title: 'Tokens by model', type: 'stack', measure: 'tokens', by: 'model' }
const costBy = (what: string, by: string): Panel => ({ title: `Cost by ${what}`, type: 'stack', measure: 'cost', by })
const table = (title: string, measure: string, by: string): Panel => ({ title, type: 'table', measure, by })
const ofErrors = { filter: 'status:error' }

/**
 * By the user of a program, whom it names at the root of a trace; `user` is the owner of the key. Whole traces are
 * counted: tokens, costs and errors are mostly those of calls below the root.
 */
const byEndUser = (type: PanelType, title: string, measure: string): Panel => ({
  title,
  type,
  measure,
  by: 'end_user',
  filter: 'is:root',
})

export const boards = {
  overview: {
    title: 'Overview',
    panels: [
      { title: 'Calls and errors', type: 'bars', measure: 'calls_errors' },
      latency,
      tokensByModel,
      costBy('model', 'model'),
      { title: 'Scores and annotations', type: 'lines', measure: 'scores' },
      { title: 'Reactions', type: 'stack', measure: 'reactions' },
      table('Top operations by calls', 'calls', 'op_name'),
      byEndUser('table', 'Top end users by traces', 'calls'),
      table('Top key owners by calls', 'calls', 'user'),
    ],
  },
  cost: {
    title: 'Cost',
    panels: [
      costBy('model', 'model'),
      costBy('operation', 'op_name'),
      costBy('key owner', 'user'),
      tokensByModel,
      table('Top operations by cost', 'cost', 'op_name'),
      byEndUser('table', 'Top end users by cost', 'cost'),
      table('Top key owners by cost', 'cost', 'user'),
    ],
  },
  errors: {
    title: 'Errors',
    panels: [
      { title: 'Error rate', type: 'lines', measure: 'error_rate' },
      { title: 'Errors by operation', type: 'stack', measure: 'errors', by: 'op_name', ...ofErrors },
      { ...table('Most frequent errors', 'errors', 'error_kind'), ...ofErrors },
      table('Top operations by errors', 'errors', 'op_name'),
    ],
  },
  latency: {
    title: 'Latency',
    panels: [
      latency,
      { title: 'Latency over time', type: 'heat', measure: 'calls' },
      { title: 'Latency p95 by operation', type: 'lines', measure: 'p95', by: 'op_name' },
      table('Slowest operations', 'p95', 'op_name'),
      table('Slowest models', 'p95', 'model'),
    ],
  },
} satisfies Readonly<Record<string, Board>>

const figure = (title: string, measure: string): Panel => ({ title, type: 'number', measure })

/** Templates of a project's own dashboards. */
export const templates: readonly Board[] = [
  {
    title: 'Cost and tokens',
    panels: [
      figure('Cost', 'cost'),
      figure('Tokens', 'tokens'),
      costBy('model', 'model'),
      tokensByModel,
      { title: 'Input and output tokens', type: 'stack', measure: 'tokens' },
      costBy('operation', 'op_name'),
      table('Top models by cost', 'cost', 'model'),
      table('Top operations by cost', 'cost', 'op_name'),
    ],
  },
  {
    title: 'Errors and latency',
    panels: [
      figure('Error rate', 'error_rate'),
      figure('Latency p95', 'p95'),
      { title: 'Calls and errors', type: 'bars', measure: 'calls_errors' },
      latency,
      { title: 'Errors by operation', type: 'stack', measure: 'errors', by: 'op_name', ...ofErrors },
      { title: 'Latency p95 by operation', type: 'lines', measure: 'p95', by: 'op_name' },
      { ...table('Most frequent errors', 'errors', 'error_kind'), ...ofErrors },
      table('Slowest operations', 'p95', 'op_name'),
    ],
  },
  {
    title: 'Users',
    panels: [
      byEndUser('stack', 'Traces by end user', 'calls'),
      byEndUser('stack', 'Cost by end user', 'cost'),
      byEndUser('table', 'Top end users by traces', 'calls'),
      byEndUser('table', 'Top end users by cost', 'cost'),
      byEndUser('table', 'Top end users by traces with errors', 'errors'),
      byEndUser('table', 'Slowest end users', 'p95'),
    ],
  },
]

export type BoardName = keyof typeof boards
export const boardNames = Object.keys(boards) as BoardName[]

/** The built-in dashboard of the name; undefined for a project's own. */
export const boardNamed = (name: string): Board | undefined =>
  Object.hasOwn(boards, name) ? boards[name as BoardName] : undefined

/** Whether it is the id of a dashboard of a project's own. */
export const isOwnBoard = (id: string): boolean => /^dashboard-[\w.-]{1,110}$/.test(id)

export function boardIdOf(title: string): string {
  const words = title.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, '')
  return `dashboard-${words.slice(0, 100) || crypto.randomUUID().slice(0, 8)}`
}

/** The title, or with a number where there is a dashboard of that name. */
export function freeTitle(title: string, taken: readonly { id: string; title: string }[]): string {
  const isTaken = (one: string) => taken.some((board) => board.title === one || board.id === boardIdOf(one))
  const names = [title, ...taken.map((_, n) => `${title} ${n + 2}`), `${title} ${taken.length + 2}`]
  return names.find((one) => !isTaken(one)) ?? title
}

/** The class of the objects that a project's own are kept in. */
export const boardClass = 'CallhouseDashboard'
export const boardsFilter = { base_object_classes: [boardClass], latest_only: true }
export const maxBoards = 200
export const maxTitle = 100

export const cutText = (value: unknown, max: number): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, max) : undefined
export const boardTitle = (id: string, value: unknown): string =>
  cutText((value as { label?: unknown } | null)?.label, maxTitle) ?? id
