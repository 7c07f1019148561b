// Routes of holds: what of a project is not removed, whoever asks for it.
import type { z } from 'zod'
import { pageQuery } from '../../schemas/access.ts'
import { holdRequest, holdResponse, releasedResponse } from '../../schemas/holds.ts'
import type { Hold } from '../core/directory/holds.ts'
import { itemKey, maxItemBytes } from '../core/directory/items.ts'
import type { DirectoryState } from '../core/directory/state.ts'
import { fault, invalid } from '../core/http/errors.ts'
import { type Route, type RouteContext, route } from '../core/http/route.ts'
import { uuidv7 } from '../core/ids.ts'
import { type AccessParts, pathId } from './changes.ts'
import { pageOf } from './pages.ts'

const path = '/v2/{entity}/{project}/holds'

const projectOf = (context: RouteContext) => context.project(`${context.params.entity}/${context.params.project}`)

function lineOf({ items }: DirectoryState, id: string, hold: Hold): z.output<typeof holdResponse> {
  const item = items.get(itemKey('hold', id))
  return { id, ...hold, created_at: item?.at ?? '', created_by: item?.by ?? '' } as z.output<typeof holdResponse>
}

export function holdRoutes({ state, change, now }: AccessParts): Route[] {
  return [
    route({
      name: 'holds.list',
      method: 'GET',
      path,
      summary: 'Legal holds of a project: data under a hold is never deleted',
      query: pageQuery,
      body: { type: 'none' },
      response: null,
      responseType: 'application/jsonl',
      line: holdResponse,
      async handle(context) {
        const projectId = projectOf(context)
        const known = state()
        const own = [...known.holds].filter(([, { scope }]) => scope === projectId)
        return pageOf(
          context,
          own.map(([id, hold]) => lineOf(known, id, hold)),
          ({ id }) => id,
        )
      },
    }),
    route({
      name: 'holds.create',
      method: 'POST',
      path,
      summary:
        'Creates a legal hold on calls, traces, threads or all of a project: the data is not deleted until an owner releases the hold',
      body: { type: 'json', schema: holdRequest, check: 'schema', maxBytes: maxItemBytes },
      response: holdResponse,
      async handle(context) {
        const { input, caller } = context
        const projectId = projectOf(context)
        if (input.until !== undefined && Date.parse(input.until) <= now())
          throw invalid({ loc: ['body', 'until'], msg: 'must be later than now', type: 'value_error' })
        const id = uuidv7()
        const hold: Hold = { scope: projectId, ...input }
        await change(caller, () => ({ changes: [{ key: itemKey('hold', id), value: hold }] }))
        return { json: lineOf(state(), id, hold) }
      },
    }),
    route({
      name: 'holds.delete',
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Releases a hold',
      body: { type: 'none' },
      response: releasedResponse,
      async handle(context) {
        const projectId = projectOf(context)
        const id = pathId(context)
        await change(context.caller, (before) => {
          if (before.holds.get(id)?.scope !== projectId) throw fault(404, `Hold ${id} not found`)
          return { changes: [{ key: itemKey('hold', id), value: null }] }
        })
        return { json: { released_at: new Date(now()).toISOString() } }
      },
    }),
  ]
}
