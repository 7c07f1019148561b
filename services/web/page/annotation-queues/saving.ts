// Answers are saved one item after another beside the page: repeated while the server is busy, taken back on demand.
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import { json } from '../api/client.ts'
import { ApiFault } from '../api/send.ts'
import type { Spec } from './specs.ts'
import { annotationsKey, type Item, itemsKey } from './use-queues.ts'

type Answer = { spec: Spec; value: unknown; earlier: string | undefined }
type State = 'completed' | 'skipped'

const undoMs = 10_000
const busy = [0, 429, 502, 503, 504]
const wait = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1_000))

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

export function useSaving(projectId: string, queueId: string, prefix: string) {
  const client = useQueryClient()
  const line = useRef<Promise<unknown>>(Promise.resolve())
  const [waiting, setWaiting] = useState(0)
  const [failed, setFailed] = useState<string>()
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map())
  const [undo, setUndo] = useState<{ ids: string[] }>()
  const refresh = useCallback(async () => {
    await client.invalidateQueries({ queryKey: itemsKey(projectId, queueId) })
    await client.invalidateQueries({ queryKey: annotationsKey(projectId, queueId) })
    await client.invalidateQueries({ queryKey: ['queues', projectId] })
  }, [client, projectId, queueId])

  async function store(item: Item, { spec, value, earlier }: Answer): Promise<string> {
    const feedback = {
      project_id: projectId,
      weave_ref: `weave:///${projectId}/call/${item.call_id}`,
      queue_id: queueId,
      feedback_type: `${prefix}.annotation.${spec.name}`,
      annotation_ref: spec.ref,
      payload: { value },
    }
    const { id } = await patiently(() =>
      earlier === undefined
        ? json('feedback.create', feedback)
        : json('feedback.replace', { ...feedback, feedback_id: earlier }),
    )
    return id
  }

  async function saveOne(item: Item, answers: readonly Answer[], state: State): Promise<void> {
    const ids: string[] = []
    for (const answer of answers)
      try {
        ids.push(await store(item, answer))
      } catch (error) {
        // What the question's schema refuses stands at the question; the item stays open.
        if (!(error instanceof ApiFault) || error.values.status !== 400) throw error
        setFaults((before) => new Map(before).set(`${item.id} ${answer.spec.name}`, error.message))
        throw error
      }
    const asked = { project_id: projectId, annotation_state: state }
    const params = { queue_id: queueId, item_id: item.id }
    await patiently(() => json('annotation_queues.progress', asked, { params })).catch((error: unknown) => {
      // An item that is done stays done: its answers may change all the same.
      if (!(error instanceof ApiFault) || error.values.status !== 400) throw error
    })
    if (ids.length > 0) {
      const mine = { ids }
      setUndo(mine)
      setTimeout(() => setUndo((now) => (now === mine ? undefined : now)), undoMs)
    }
  }

  const inTurn = (work: () => Promise<void>, what: string) => {
    setWaiting((n) => n + 1)
    line.current = line.current
      .then(work)
      .then(refresh)
      .catch((error: unknown) =>
        setFailed(`${what}: ${error instanceof Error ? error.message.slice(0, 300) : 'failed'}`),
      )
      .finally(() => setWaiting((n) => n - 1))
  }

  return {
    waiting,
    failed,
    faultOf: (itemId: string, spec: string) => faults.get(`${itemId} ${spec}`),
    save(item: Item, answers: readonly Answer[], state: State) {
      setFailed(undefined)
      setFaults((before) => new Map([...before].filter(([key]) => !key.startsWith(`${item.id} `))))
      // At once on the page: the next item must not wait.
      client.setQueryData<Item[]>(itemsKey(projectId, queueId), (items) =>
        items?.map((one) => (one.id === item.id ? { ...one, annotation_state: state } : one)),
      )
      inTurn(() => saveOne(item, answers, state), `Item ${item.position_in_queue ?? ''} was not saved`)
    },
    undo:
      undo &&
      (() => {
        setUndo(undefined)
        const query = { $expr: { $in: [{ $getField: 'id' }, undo.ids.map((id) => ({ $literal: id }))] } }
        inTurn(
          async () =>
            void (await patiently(() => json('feedback.purge', { project_id: projectId, query: query as never }))),
          'Not taken back',
        )
      }),
  }
}
