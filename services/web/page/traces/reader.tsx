// One span: what it is, what went in and came out, its attributes, and the record as it is stored.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useCallback, useMemo, useState } from 'react'
import type { EndUser } from '../engine/end-user.ts'
import { bytes, count, duration, moment } from '../engine/format.ts'
import type { Part } from '../engine/message-parts.ts'
import { opVersionOf } from '../engine/refs.ts'
import type { Row } from '../engine/rows.ts'
import { statusNames } from '../engine/rows.ts'
import { toolSpans } from '../engine/tool-spans.ts'
import { type Tab, type TraceSearch, tabNames, traceSearch } from '../engine/trace-search.ts'
import type { Tree } from '../engine/tree.ts'
import { costText, costTitle } from '../engine/unpriced.ts'
import { Code } from '../parts/code.tsx'
import { Conversation } from '../parts/conversation.tsx'
import { FaultBox } from '../parts/fault.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { MarkdownSwitch } from '../parts/markdown.tsx'
import { MediaList } from '../parts/media.tsx'
import { T } from '../parts/text.tsx'
import { openQuery } from '../parts/trace-query.ts'
import type { ValueActs } from '../parts/value-menu.tsx'
import type { NodeRef } from '../worker/documents.ts'
import { CallActs } from './call-acts.tsx'
import { Cost } from './cost.tsx'
import { Feedback } from './feedback.tsx'
import { FieldActs } from './field-acts.tsx'
import { isSpan, Logs } from './logs.tsx'
import { ThrownList } from './thrown.tsx'

const labels: Record<Tab, string> = {
  conversation: 'Conversation',
  io: 'Input / Output',
  attributes: 'Attributes',
  feedback: 'Feedback',
  cost: 'Cost',
  code: 'Code',
  logs: 'Logs',
  raw: 'Raw',
}

/** Members of the record that a tab shows as JSON. */
const shownAsJson: Partial<Record<Tab, readonly [title: string, member: string][]>> = {
  io: [
    ['Input', 'inputs'],
    ['Output', 'output'],
  ],
  attributes: [
    ['Attributes', 'attributes'],
    ['Summary', 'summary'],
  ],
  raw: [['Record', 'raw']],
}

type ReaderProps = {
  projectId: string
  id: string
  zone: string
  tab: TraceSearch['tab']
  onTab(tab: TraceSearch['tab']): void
  /** The tree that the span stands in, and its place there. */
  tree: Tree | undefined
  line: number
  acts?: ReactNode
  /** The call was deleted, with those below it. */
  onDeleted?(): void
}

const nothing = () => undefined

/** The fault in words: a document that the worker has let go of cannot be read on. */
const worded = (error: unknown): unknown =>
  error instanceof Error && error.message === 'gone' ? new Error('This view has expired') : error

export function Reader(props: ReaderProps) {
  const { projectId, id, zone, tab, onTab, tree, line, acts, onDeleted = nothing } = props
  const { data, error, refetch } = useQuery(openQuery(projectId, id))
  const messages = data?.conversation ?? null
  const tools = useMemo(() => (tree && messages ? toolSpans(tree, line, messages) : undefined), [tree, line, messages])
  const [entity = '', project = ''] = projectId.split('/')
  const toolLink = (part: Part, name: ReactNode) => {
    const span = tools?.get(part)
    return span !== undefined && data ? (
      <Link
        to="/p/$entity/$project/traces/$traceId"
        params={{ entity, project, traceId: data.row.traceId }}
        search={(before) => traceSearch({ ...before, call: span, tab: undefined })}
        title="Go to the tool call"
      >
        {name}
      </Link>
    ) : undefined
  }
  const op = data ? opVersionOf(projectId, data.row.opName) : undefined
  const first: Tab = messages === null ? 'io' : 'conversation'
  const has: Partial<Record<Tab, boolean>> = {
    conversation: messages !== null,
    cost: data?.hasUsage === true,
    code: op !== undefined,
    logs: data ? isSpan(id) : false,
  }
  const shown: Tab = tab === undefined || has[tab] === false ? first : tab
  const tabs = tabNames.filter((name) => has[name] !== false)
  if (error) return <FaultBox error={worded(error)} onRetry={() => void refetch()} />
  if (data === null)
    return (
      <div className="center" role="status">
        <h2>Call not found</h2>
        <p className="second">It was deleted, or has not arrived yet.</p>
      </div>
    )
  return (
    <>
      <header>
        <h2 className="name">
          {data && <Icon name={data.row.kind} label={data.row.kind} className={`k-${data.row.kind}`} />}
          <span style={{ flex: 1 }}>{data ? <T text={data.row.name} /> : ' '}</span>
          {acts}
        </h2>
        {data && (
          <Facts
            row={data.row}
            tree={tree}
            line={line}
            zone={zone}
            size={data.bytes}
            endUser={data.endUser}
            projectId={projectId}
          />
        )}
        {data && <ThrownList all={data.thrown} hasFailed={data.row.exception !== null} />}
      </header>
      <div className="tabs" role="tablist" aria-label="Parts of the span">
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={name === shown}
            onClick={() => onTab(name === first ? undefined : name)}
          >
            {labels[name]}
          </button>
        ))}
      </div>
      {data && (
        <CallActs
          key={id}
          projectId={projectId}
          zone={zone}
          onDeleted={onDeleted}
          row={data.row}
          record={data.sections.raw}
        />
      )}
      <div className="body" role="tabpanel" aria-label={labels[shown]}>
        {shown === 'conversation' && messages !== null && (
          <>
            <ToPlayground projectId={projectId} id={id} />
            <Conversation projectId={projectId} messages={messages} hasKeys toolLink={toolLink} />
          </>
        )}
        {shown === 'cost' && <Cost key={id} projectId={projectId} id={id} />}
        {op && shown === 'code' && <Code projectId={projectId} op={op} withLink />}
        {data && shown === 'logs' && <Logs key={id} projectId={projectId} row={data.row} zone={zone} />}
        {shown === 'feedback' && <Feedback key={id} projectId={projectId} id={id} zone={zone} />}
        {data && shown === 'io' && data.media.length > 0 && <MediaList projectId={projectId} found={data.media} />}
        {data &&
          shownAsJson[shown]?.map(([title, member]) => (
            <Section
              key={`${id} ${member}`}
              projectId={projectId}
              title={title}
              node={data.sections[member]}
              {...(member !== 'raw' && { at: member })}
            />
          ))}
      </div>
    </>
  )
}

function ToPlayground({ projectId, id }: { projectId: string; id: string }) {
  const [entity = '', project = ''] = projectId.split('/')
  return (
    <p className="to-playground">
      <MarkdownSwitch />
      <Link to="/p/$entity/$project/playground" params={{ entity, project }} search={{ call: id }}>
        Open in playground
      </Link>
    </p>
  )
}

type SectionProps = {
  projectId: string
  title: string
  node: NodeRef | undefined
  /** The member of the record that it is; without it the whole. */
  at?: string
}

function Section({ projectId, title, node, at }: SectionProps) {
  const start = useMemo(() => (at === undefined ? [] : [at]), [at])
  const acts = useCallback<ValueActs>(
    (path, json, onClose) => <FieldActs projectId={projectId} path={path} json={json} onClose={onClose} />,
    [projectId],
  )
  const size = node === undefined ? 0 : node.end - node.start
  return (
    <section aria-label={title}>
      <h3>
        {title} <span className="grow" /> <span className="num">{bytes(size)}</span>
      </h3>
      {node && <JsonView root={node} label={title} name={title} at={start} acts={acts} />}
    </section>
  )
}

/** Leads to the calls of the same end user; from a root to the traces. */
function EndUserLink({ projectId, row, name, term }: EndUser & { projectId: string; row: Row }) {
  const [entity = '', project = ''] = projectId.split('/')
  return (
    <Link
      to="/p/$entity/$project/calls"
      params={{ entity, project }}
      search={row.parentId === null ? { q: term } : { q: term, view: 'all' }}
      title={`Only ${row.parentId === null ? 'traces' : 'calls'} of this end user`}
    >
      <T text={name} max={60} />
    </Link>
  )
}

type FactsProps = {
  projectId: string
  row: Row
  tree: Tree | undefined
  line: number
  zone: string
  size: number
  /** Undefined where the call names none. */
  endUser: EndUser | undefined
}

function Facts({ projectId, row, tree, line, zone, size, endUser }: FactsProps) {
  const span = tree?.order[line]
  const own = span === undefined ? undefined : tree?.own[span]
  const share = row.latencyMs === null || !tree || tree.endUs === 0 ? undefined : (row.latencyMs * 100_000) / tree.endUs
  const facts: [string, ReactNode, string?][] = [
    ['Started', moment(row.startedAt, zone), row.startedAt],
    ['Duration', row.latencyMs === null ? 'running' : duration(row.latencyMs), `${row.latencyMs} ms`],
  ]
  if (own !== undefined && tree && (tree.end[line] as number) > line + 1)
    facts.push(['Self time', duration(own / 1000)])
  if (share !== undefined && share < 99.95) facts.push(['% of trace', `${share.toPrecision(2)} %`])
  if (row.model !== null) facts.push(['Model', <T key="model" text={row.model} />])
  if (row.tokensIn !== null) facts.push(['Tokens', `${count(row.tokensIn)} → ${count(row.tokensOut ?? 0)}`])
  if (row.cost !== null) facts.push(['Cost', costText(row), costTitle(row)])
  if (endUser) facts.push(['End user', <EndUserLink key="end user" projectId={projectId} row={row} {...endUser} />])
  if (row.userId !== null) facts.push(['Key owner', <T key="user" text={row.userId} />])
  if (row.threadId !== null) facts.push(['Thread', <T key="thread" text={row.threadId} max={40} />])
  facts.push(['Size', bytes(size)])
  return (
    <dl className="facts">
      <div>
        <dt className="hidden">Status</dt>
        <dd className={`s-${row.status}`}>
          <span style={{ display: 'inline-flex', gap: 4, alignItems: 'center' }}>
            <Icon name={row.status} /> {statusNames[row.status]}
          </span>
        </dd>
      </div>
      {facts.map(([name, value, title]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd title={title}>{value}</dd>
        </div>
      ))}
      <CopyId id={row.id} />
    </dl>
  )
}

function CopyId({ id }: { id: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <div>
      <dt>ID</dt>
      <dd>
        <button
          type="button"
          style={{ minHeight: 24, padding: '0 4px' }}
          title="Copy ID"
          onClick={() => void navigator.clipboard.writeText(id).then(() => setCopied(true))}
        >
          <code>
            <T text={id} max={12} />
          </code>
          <Icon name={isCopied ? 'success' : 'copy'} />
        </button>
      </dd>
    </div>
  )
}
