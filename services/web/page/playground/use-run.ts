// One column's run: the request, its answer as it comes, what it took; stopping it stops it at the provider.
import { useCallback, useEffect, useRef, useState } from 'react'
import { baseUrl } from '../api/client.ts'
import { type Answer, createEventReader, emptyAnswer, withChunk } from '../engine/completion-stream.ts'
import { completionRequestOf, type Draft, type ModelColumn } from './draft.ts'
import { type RunRefusal, runRefusalOf } from './refusal.ts'
import type { Run } from './run.ts'

class Refused extends Error {
  secret: string | null
  constructor({ message, secret }: RunRefusal) {
    super(message)
    this.secret = secret
  }
}

const unknown = { secret: null, callId: null, firstMs: null, totalMs: null }

/** The answer after each piece of the stream. */
async function eachAnswer(body: ReadableStream<Uint8Array>, use: (answer: Answer) => void): Promise<void> {
  const decoder = new TextDecoder()
  const readEvents = createEventReader()
  const reader = body.getReader()
  let answer = emptyAnswer()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    for (const data of readEvents(decoder.decode(value, { stream: true })))
      if (data !== '[DONE]') answer = withChunk(answer, JSON.parse(data))
    use(answer)
  }
}

/** Asks the model once. The answer is shown as it arrives, and a fault is in the run. */
export async function runOnce(
  projectId: string,
  draft: Draft,
  column: ModelColumn,
  signal: AbortSignal,
  onChange: (run: Run) => void = () => undefined,
): Promise<Run> {
  const began = performance.now()
  let state: Run = { answer: emptyAnswer(), isRunning: true, fault: null, ...unknown }
  const show = (part: Partial<Run>) => {
    state = { ...state, ...part }
    onChange(state)
  }
  show({})
  try {
    const body = JSON.stringify(completionRequestOf(draft, column))
    const response = await fetch(new URL('inference/v1/chat/completions', baseUrl), {
      method: 'POST',
      body,
      credentials: 'same-origin',
      signal,
      headers: { 'Content-Type': 'application/json', 'X-Callhouse-Page': '1', 'OpenAI-Project': projectId },
    })
    show({ callId: response.headers.get('x-call-id') })
    if (!response.ok || response.body === null) throw new Refused(runRefusalOf(await response.text()))
    await eachAnswer(response.body, (answer) => {
      const hasSaid = answer.text !== '' || answer.reasoning !== '' || answer.toolCalls.length > 0
      show({ answer, firstMs: state.firstMs ?? (hasSaid ? performance.now() - began : null) })
    })
    show({ fault: state.answer.error })
  } catch (error) {
    if (signal.aborted) show({ fault: 'Stopped' })
    else {
      const secret = error instanceof Refused ? error.secret : null
      show({ fault: error instanceof Error ? error.message.slice(0, 2_000) : 'The request failed', secret })
    }
  }
  show({ isRunning: false, totalMs: performance.now() - began })
  return state
}

export function useRun(projectId: string) {
  const [run, setRun] = useState<Run>()
  const control = useRef<AbortController>(undefined)
  const stop = useCallback(() => control.current?.abort(), [])
  useEffect(() => stop, [stop])

  const start = useCallback(
    async (draft: Draft, column: ModelColumn): Promise<void> => {
      control.current?.abort()
      const mine = new AbortController()
      control.current = mine
      await runOnce(projectId, draft, column, mine.signal, (state) => control.current === mine && setRun(state))
    },
    [projectId],
  )
  return { run, start, stop }
}
