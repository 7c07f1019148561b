// Routes of the server itself for owners of everything: its state, its settings, never its secrets, and the rows that
// the store refused, which can be replayed.
import type { z } from 'zod'
import {
  deadLetterReplayResponse,
  deadLetterResponse,
  deadLettersRequest,
  deadLettersResponse,
  serverSettingsResponse,
  serverStatusResponse,
} from '../../../schemas/server.ts'
import { maxItemBytes } from '../../core/directory/items.ts'
import { allowsOn } from '../../core/directory/roles.ts'
import { fault } from '../../core/http/errors.ts'
import { type Caller, type Route, route } from '../../core/http/route.ts'

type Found = {
  id: string
  topic: string
  partition: number
  offset: number
  rowIndex: number
  reason: string
  at: string
  replayedAt?: string
}

/** Ports to the parts of the server. */
export type OperatorDeps = {
  settings(): z.output<typeof serverSettingsResponse>
  status(): Promise<z.output<typeof serverStatusResponse>>
  deadLetters: {
    /** Those found first come first. */
    list(): Promise<(Found & { sizeBytes: number })[]>
    show(id: string): Promise<(Found & { row: string }) | undefined>
    /** @param id `all`: those that were not sent again yet */
    replay(id: string): Promise<z.output<typeof deadLetterReplayResponse>>
  }
}

/** @throws Fault 403: rows of every project stand there */
function throwUnlessOwner({ access = {} }: Caller): void {
  if (!allowsOn(access, 'owner', '*')) throw fault(403, 'Key has no right to owner on *')
}

const shapeOf = ({ id, topic, partition, offset, rowIndex, reason, at, replayedAt }: Found) => ({
  id,
  topic,
  partition,
  offset,
  row_index: rowIndex,
  reason,
  at,
  replayed_at: replayedAt ?? null,
})

export function createServerRoutes({ settings, status, deadLetters }: OperatorDeps): Route[] {
  return [
    route({
      name: 'server.settings',
      method: 'GET',
      path: '/server/settings',
      summary: 'The settings of this server process, with the names of secrets only',
      withoutProject: true,
      body: { type: 'none' },
      response: serverSettingsResponse,
      async handle({ caller }) {
        throwUnlessOwner(caller)
        return { json: settings() }
      },
    }),
    route({
      name: 'server.status',
      method: 'GET',
      path: '/server/status',
      summary: 'The state of this server process: checks, lag by topic, store, slowest queries and refused requests',
      withoutProject: true,
      body: { type: 'none' },
      response: serverStatusResponse,
      async handle({ caller }) {
        throwUnlessOwner(caller)
        return { json: await status() }
      },
    }),
    route({
      name: 'server.dead_letters',
      method: 'POST',
      path: '/server/deadletters/query',
      summary: 'Dead letters, newest first, without their content',
      withoutProject: true,
      body: { type: 'json', schema: deadLettersRequest, check: 'schema', maxBytes: maxItemBytes },
      response: deadLettersResponse,
      async handle({ input: { limit, offset }, caller }) {
        throwUnlessOwner(caller)
        const all = (await deadLetters.list()).toReversed()
        const dead_letters = all
          .slice(offset, offset + limit)
          .map(({ sizeBytes, ...one }) => ({ ...shapeOf(one), size_bytes: sizeBytes }))
        return { json: { dead_letters, total: all.length } }
      },
    }),
    route({
      name: 'server.dead_letter',
      method: 'GET',
      path: '/server/deadletters/{id}',
      summary: 'A dead letter with its content',
      withoutProject: true,
      body: { type: 'none' },
      response: deadLetterResponse,
      async handle({ params: { id = '' }, caller }) {
        throwUnlessOwner(caller)
        const found = await deadLetters.show(id)
        if (found === undefined) throw fault(404, `Dead letter ${id} not found`)
        return { json: { ...shapeOf(found), row: found.row } }
      },
    }),
    route({
      name: 'server.dead_letter_replay',
      method: 'POST',
      path: '/server/deadletters/{id}/replay',
      summary: 'Retries a dead letter; `all`: every one that was not retried yet',
      withoutProject: true,
      body: { type: 'none' },
      response: deadLetterReplayResponse,
      async handle({ params: { id = '' }, caller }) {
        throwUnlessOwner(caller)
        if (id !== 'all' && (await deadLetters.show(id)) === undefined) throw fault(404, `Dead letter ${id} not found`)
        return { json: await deadLetters.replay(id) }
      },
    }),
  ]
}
