// The page's watch over its server: asked when something failed, again while it is away, and what shows asked anew after.
import { expect, it } from 'vitest'
import { watchedConnection } from '../../services/web/page/api/connection.ts'

/** A server that can be switched off, seconds that pass when told, and what the page saw. */
function watched() {
  const told = { isThere: true, asked: 0, backs: 0 }
  let work: (() => void) | undefined
  const connection = watchedConnection({
    reach: () => {
      told.asked++
      return Promise.resolve(told.isThere)
    },
    repeat(next) {
      work = next
      return () => {
        work = undefined
      }
    },
    onBack: () => told.backs++,
  })
  const seconds = async (many: number) => {
    for (let n = 0; n < many; n++) {
      work?.()
      await Promise.resolve().then(() => Promise.resolve())
    }
  }
  return { told, connection, seconds, isWaiting: () => work !== undefined }
}

it('a request that failed while the server answers is no matter of the connection', async () => {
  const { told, connection, isWaiting } = watched()
  expect(await connection.look()).toBe(true)
  expect([connection.state(), isWaiting(), told.backs]).toEqual([{ isAway: false, leftS: 0 }, false, 0])
})

it('a server that is away is asked every five seconds, and once for all that failed at a time', async () => {
  const { told, connection, seconds } = watched()
  told.isThere = false
  await Promise.all([connection.look(), connection.look(), connection.look()])
  expect([told.asked, connection.state()]).toEqual([1, { isAway: true, leftS: 5 }])
  await seconds(3)
  expect([told.asked, connection.state()]).toEqual([1, { isAway: true, leftS: 2 }])
  await seconds(2)
  expect([told.asked, connection.state()]).toEqual([2, { isAway: true, leftS: 5 }])
})

it('the bar goes and lists are asked anew when it is back, by itself or at once when somebody asks', async () => {
  const { told, connection, seconds, isWaiting } = watched()
  const seen: boolean[] = []
  const leave = connection.subscribe(() => seen.push(connection.state().isAway))
  told.isThere = false
  await connection.look()
  told.isThere = true
  await seconds(5)
  expect([connection.state(), told.backs, isWaiting()]).toEqual([{ isAway: false, leftS: 0 }, 1, false])
  told.isThere = false
  await connection.look()
  told.isThere = true
  await connection.look()
  expect([connection.state().isAway, told.backs]).toEqual([false, 2])
  expect([seen[0], seen.at(-1)]).toEqual([true, false])
  leave()
  const before = seen.length
  told.isThere = false
  await connection.look()
  expect(seen).toHaveLength(before)
})
