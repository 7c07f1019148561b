// Sends the answers of annotators to the server: one item after another, whichever page is open. It is kept by the
// browser until it is stored, so that neither a closed tab nor a server that is away loses it.
import type { QueryClient } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { json } from '../api/client.ts'
import { ApiFault } from '../api/send.ts'
import {
  forgetItem,
  isRefusedForGood,
  type KeptAnswer,
  type KeptItem,
  keepItem,
  keptItems,
} from '../engine/kept-answers.ts'
import { annotationsKey, itemsKey } from './use-queues.ts'

type Outbox = {
  /** Items in the order in which they are sent. */
  waiting: readonly KeptItem[]
  failed: string | undefined
  /** Refusals by the schema of a question, by item and question, each of one value. */
  faults: ReadonlyMap<string, { reason: string; value: unknown }>
  /** Feedback that was stored last, while it can be taken back. */
  stored: { ids: readonly string[]; projectId: string; queueId: string } | undefined
}

const undoMs = 10_000
const busy = [0, 429, 502, 503, 504]
const wait = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1_000))
const faultKey = (itemId: string, spec: string): string => `${itemId} ${spec}`

let outbox: Outbox = { waiting: [], failed: undefined, faults: new Map(), stored: undefined }
let line: Promise<unknown> = Promise.resolve()
const listeners = new Set<() => void>()

const warn = (event: BeforeUnloadEvent) => event.preventDefault()

function change(part: Partial<Outbox>): void {
  outbox = { ...outbox, ...part }
  // The browser asks whether to leave while something is not stored.
  if (outbox.waiting.length > 0) addEventListener('beforeunload', warn)
  else removeEventListener('beforeunload', warn)
  for (const listener of listeners) listener()
}

export const useOutbox = (): Outbox =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => outbox,
  )

/** Again while the server is busy or away, as long as the page is open. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ApiFault) || !busy.includes(error.values.status) || tries > 20) throw error
      await wait(Math.max(1, Math.min(30, error.values.retryAfterS || tries)))
    }
}

const statusOf = (error: unknown): number | undefined => (error instanceof ApiFault ? error.values.status : undefined)

/** A request that is on its way goes on when the tab closes. */
const keepalive = true

async function storeAnswer(item: KeptItem, { id, spec, ref, value, earlier }: KeptAnswer): Promise<string> {
  const feedback = {
    id,
    project_id: item.projectId,
    weave_ref: `weave:///${item.projectId}/call/${item.callId}`,
    queue_id: item.queueId,
    feedback_type: `${item.prefix}.annotation.${spec}`,
    annotation_ref: ref,
    payload: { value },
  }
  const stored = await patiently(() =>
    earlier === undefined
      ? json('feedback.create', feedback, { keepalive })
      : json('feedback.replace', { ...feedback, feedback_id: earlier }, { keepalive }),
  )
  return stored.id
}

async function storeItem(item: KeptItem): Promise<void> {
  const ids: string[] = []
  for (const answer of item.answers)
    try {
      ids.push(await storeAnswer(item, answer))
    } catch (error) {
      // A refusal by the question's schema shows at the question; the item stays open.
      if (statusOf(error) === 400)
        change({
          faults: new Map(outbox.faults).set(faultKey(item.itemId, answer.spec), {
            reason: String((error as Error).message),
            value: answer.value,
          }),
        })
      throw error
    }
  const { projectId, queueId, itemId, state } = item
  const asked = { project_id: projectId, annotation_state: state }
  const params = { queue_id: queueId, item_id: itemId }
  await patiently(() => json('annotation_queues.progress', asked, { params, keepalive })).catch((error: unknown) => {
    // An item that is done stays done: its answers may change all the same.
    if (statusOf(error) !== 400) throw error
  })
  if (ids.length === 0) return
  const stored = { ids, projectId, queueId }
  change({ stored })
  setTimeout(() => outbox.stored === stored && change({ stored: undefined }), undoMs)
}

async function refresh(client: QueryClient, { projectId, queueId }: Pick<KeptItem, 'projectId' | 'queueId'>) {
  await client.invalidateQueries({ queryKey: itemsKey(projectId, queueId) })
  await client.invalidateQueries({ queryKey: annotationsKey(projectId, queueId) })
  await client.invalidateQueries({ queryKey: ['queues', projectId] })
}

function failedText(item: KeptItem, error: unknown): string {
  const reason = error instanceof Error ? error.message.slice(0, 300).replace(/\.$/, '') : 'failed'
  const kept = isRefusedForGood(statusOf(error) ?? 0)
    ? ''
    : ' It is kept in this browser and sent when you open this page again.'
  return `Item ${item.position ?? ''} was not saved: ${reason}.${kept}`
}

function send(client: QueryClient, item: KeptItem): void {
  change({ waiting: [...outbox.waiting, item] })
  const done = () => change({ waiting: outbox.waiting.filter((one) => one !== item) })
  line = line.then(async () => {
    try {
      await storeItem(item)
      forgetItem(localStorage, item)
      // Until the answer is there the item counts as done: it must not come again as an open one.
      await refresh(client, item).catch(() => undefined)
    } catch (error) {
      if (isRefusedForGood(statusOf(error) ?? 0)) forgetItem(localStorage, item)
      change({ failed: failedText(item, error) })
      await refresh(client, item).catch(() => undefined)
    }
    done()
  })
}

/** Keeps what was answered, and sends it behind what waits already. */
export function put(client: QueryClient, item: KeptItem): void {
  const others = [...outbox.faults].filter(([key]) => !key.startsWith(`${item.itemId} `))
  change({ failed: undefined, faults: new Map(others) })
  keepItem(localStorage, item)
  send(client, item)
}

/** Sends what was kept when the page was left, by this user. */
export function sendKept(client: QueryClient, userId: string): void {
  for (const item of keptItems(localStorage, userId))
    if (!outbox.waiting.some(({ itemId, queueId }) => itemId === item.itemId && queueId === item.queueId))
      send(client, item)
}

/** The reason for which an answer was refused. @param draft what stands there now: the reason is of the value that was sent */
export function faultOf({ faults }: Outbox, itemId: string, spec: string, draft: unknown): string | undefined {
  const fault = faults.get(faultKey(itemId, spec))
  return draft === undefined || draft === fault?.value ? fault?.reason : undefined
}

/** Takes back what was stored last. */
export function takeBack(client: QueryClient): void {
  const { stored } = outbox
  if (stored === undefined) return
  change({ stored: undefined })
  const query = { $expr: { $in: [{ $getField: 'id' }, stored.ids.map((id) => ({ $literal: id }))] } }
  line = line
    .then(() => patiently(() => json('feedback.purge', { project_id: stored.projectId, query: query as never })))
    .then(() => refresh(client, stored))
    .catch((error: unknown) => change({ failed: `Not undone: ${error instanceof Error ? error.message : 'failed'}` }))
}
