// A payload of 10 MB in the reader: opened, a container of 100,000 members expanded, all of it searched.
import { call, newId, newTrace, type World } from '../../test/browser/world.ts'
import { type Figure, longTasks, openedPage, stands, untilOpened, untilQuiet, untilShown } from './page-timing.ts'
import { median } from './process.ts'

export async function jsonFigures(world: World, times: number): Promise<Figure[]> {
  const id = newId()
  const text = 'some words of a document that is long '.repeat(2)
  const list = Array.from({ length: 100_000 }, (_, n) => ({ n, text }))
  await world.send([call(world.project, { id, trace: newTrace(), name: 'large', inputs: { list } })])
  const { page, context } = await openedPage(world)
  const opening: number[] = []
  const expanding: number[] = []
  const searching: number[] = []
  const tasks: number[] = []
  const tree = `document.querySelector('[role=tree][aria-label=Input]')`
  for (let round = 0; round < times; round++) {
    opening.push(await untilOpened(page, `${world.url}/p/${world.project}/calls/${id}`, stands('.json .node .key')))
    await untilQuiet(page)
    const long = await longTasks(page, async () => {
      const twist = page.getByRole('tree', { name: 'Input' }).locator('.twist').first()
      expanding.push(await untilShown(page, () => twist.click(), `${tree}?.querySelectorAll('.node').length > 10`))
      const finder = page.getByLabel('Find in Input')
      // A text that occurs nowhere needs a search of everything.
      await finder.fill('words that stand nowhere')
      const isNone = `document.querySelector('.json .find [role=status]')?.textContent === 'none'`
      searching.push(await untilShown(page, () => finder.press('Enter'), isNone))
    })
    tasks.push(long[0] ?? 0)
  }
  await context.close()
  return [
    { what: 'link to the first lines of 10 MB of JSON', value: median(opening), unit: 'ms', must: 1_000 },
    { what: 'expanding 100,000 members of it', value: median(expanding), unit: 'ms', must: 200 },
    { what: 'searching all of it', value: median(searching), unit: 'ms', must: 1_500 },
    { what: 'longest task meanwhile (0 = below 50)', value: median(tasks), unit: 'ms', must: 50 },
  ]
}
