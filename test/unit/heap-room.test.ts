// A heap that seems full: work that may begin anew in a thread goes there, so that the main thread collects nothing.
import { expect, it } from 'vitest'
import { TooLongHere } from '../../services/core/errors.ts'
import { anonymous } from '../../services/core/http/handler.ts'
import { isLong } from '../../services/core/http/long-requests.ts'
import { projectsOf } from '../../services/core/http/projects.ts'
import { innerRoute } from '../../services/core/http/route.ts'
import { hasRoom, seemsFull } from '../../services/core/memory/heap-room.ts'
import { keepWork } from '../../services/core/process/running-handler.ts'

const more = Number.MAX_SAFE_INTEGER
const inner = innerRoute({ name: 'a', right: 'read', summary: '', handle: async () => ({ json: null }) })
const handled = (mayMove: boolean, handle: () => unknown) =>
  projectsOf(anonymous, inner, mayMove).run(async () => ({ json: handle() }))

it('work whose values may find no room moves, unless it has written or is in a thread already', async () => {
  await expect(handled(true, () => hasRoom(more))).rejects.toThrow(TooLongHere)
  expect(await handled(false, () => hasRoom(more))).toEqual({ json: false })
  const written = handled(true, () => {
    keepWork()
    return hasRoom(more)
  })
  expect(await written).toEqual({ json: false })
  expect(await handled(true, () => hasRoom(1000))).toEqual({ json: true })
})

it('bodies whose values may find no room are long, short ones never', () => {
  expect([seemsFull(more), seemsFull(1000)]).toEqual([true, false])
  expect([isLong(inner, Buffer.alloc(2000)), isLong(inner, Buffer.alloc(2 ** 20 + 1))]).toEqual([false, true])
  expect(isLong({ ...inner, isLong: true }, Buffer.alloc(0))).toBe(true)
})
