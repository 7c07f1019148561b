// Evaluation runs side by side, and an annotation queue that is worked through by keys.

import { call, newId, newTrace, type World } from '../../test/browser/world.ts'
import { askServer } from '../demo/server.ts'
import { type Figure, openedPage, stands, untilOpened, untilShown } from './page-timing.ts'
import { median } from './process.ts'

/** Runs of one evaluation over the same examples; resolves to their ids. */
async function sendRuns(world: World, runs: number, rows: number): Promise<string[]> {
  const ids: string[] = []
  const at = Date.now() - 3_600_000
  for (let run = 0; run < runs; run++) {
    const trace = newTrace()
    const id = newId()
    const self = `weave:///${world.project}/object/model-${run}:${'a'.repeat(43)}`
    const named = { trace, startMs: at, ms: 60_000, inputs: { self: 'evaluation', model: self } }
    const calls: object[] = [call(world.project, { ...named, id, name: 'Evaluation.evaluate' })]
    for (let n = 0; n < rows; n++) {
      const example = { question: `What is to be done with order ${n}?`, expected: `It is sent to place ${n % 90}.` }
      const scores = { correct: (n * 7 + run) % 5 > 0, judge: { helpfulness: ((n * 13 + run * 5) % 100) / 100 } }
      calls.push(
        call(world.project, {
          trace,
          parent: id,
          name: 'Evaluation.predict_and_score',
          startMs: at + n,
          ms: 900,
          inputs: { self: 'evaluation', model: self, example },
          output: { output: `To place ${(n * 3 + run) % 90}.`, scores, model_latency: 0.8 },
        }),
      )
    }
    await world.send(calls)
    ids.push(id)
  }
  return ids
}

async function comparisonFigure(world: World, rows: number, must: number, times: number): Promise<Figure> {
  const ids = await sendRuns(world, 5, rows)
  const url = `${world.url}/p/${world.project}/evaluations/compare?runs=${ids.join()}`
  const took: number[] = []
  const { page, context } = await openedPage(world)
  page.setDefaultTimeout(120_000)
  // All rows come at once: the first one shows with the last one.
  const whole = `[role=table][aria-rowcount="${rows + 1}"] .row .compared`
  for (let round = 0; round < times; round++) took.push(await untilOpened(page, url, stands(whole)))
  await context.close()
  return { what: `comparison of 5 runs of ${rows} rows, whole`, value: median(took), unit: 'ms', must }
}

async function queueFigure(world: World): Promise<Figure> {
  const items = 40
  const ids = Array.from({ length: items }, newId)
  await world.send(ids.map((id, n) => call(world.project, { id, name: 'asked', inputs: { question: `Number ${n}` } })))
  const target = { url: world.url, key: 'test-key', project: world.project }
  const obj = {
    project_id: world.project,
    object_id: 'sure',
    builtin_object_class: 'AnnotationSpec',
    val: { field_schema: { type: 'boolean' } },
  }
  const [made] = await askServer<{ digest: string }>(target, '/obj/create', { obj })
  const asked = { project_id: world.project, name: 'Measured' }
  const [queue] = await askServer<{ id: string }>(target, '/annotation_queues', {
    ...asked,
    scorer_refs: [`weave:///${world.project}/object/sure:${made?.digest}`],
  })
  const added = { project_id: world.project, call_ids: ids, display_fields: ['inputs'] }
  await askServer(target, `/annotation_queues/${queue?.id}/items`, added)
  const { page, context } = await openedPage(world)
  await page.goto(`${world.url}/p/${world.project}/queues/${queue?.id}`)
  await page.getByRole('button', { name: 'Continue labeling' }).click()
  const payload = `document.querySelector('.labelling .shown .node')`
  await page.locator('.labelling .shown .node').first().waitFor()
  const took: number[] = []
  for (let n = 1; n < items; n++) {
    // The pace of a reader: the next item is read ahead.
    await new Promise((resolve) => setTimeout(resolve, 400))
    const isNext = `document.title.startsWith('Item ${n + 1} ') && ${payload} !== null`
    await page.keyboard.press('y')
    took.push(await untilShown(page, () => page.keyboard.press('Enter'), isNext))
  }
  await context.close()
  return { what: 'key to the next item of a queue painted', value: median(took), unit: 'ms', must: 100 }
}

export async function judgingFigures(world: World, times: number): Promise<Figure[]> {
  const figures = [await comparisonFigure(world, 1_000, 1_000, times)]
  figures.push(await comparisonFigure(world, 10_000, 20_000, Math.min(3, times)))
  figures.push(await queueFigure(world))
  return figures
}
