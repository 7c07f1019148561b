// tier: deep browser
// Markdown, images, sound and files of messages and payloads: shown from the server's own bytes, and nothing else loaded.
import { crc32, deflateSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { expectSoon } from '../fixtures/eventually.ts'
import { call, everybodysFaults, newId, newTrace, type Opened, picture, startWorld, type World } from './world.ts'

let world: World
let here: Opened
const trace = newTrace()
const ids = { answered: newId(), payload: newId(), hostile: newId(), inlined: newId() }

/** A picture of its own: colours that hardly pack when it is noisy. */
function png(width: number, height: number, noise: number): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name), data])
    const frame = Buffer.alloc(8)
    frame.writeUInt32BE(data.length)
    frame.writeUInt32BE(crc32(body), 4)
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  head.set([8, 2], 8)
  const rows = Buffer.alloc(height * (1 + width * 3))
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const wave = ((x * 7919 + y * 104_729 + x * y * 31) % 256) * noise
      rows.set(
        [(x * 255) / width, (y * 200) / height, 160].map((one) => (one + wave) & 255),
        y * (1 + width * 3) + 1 + x * 3,
      )
    }
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'), ...parts])
}

function wav(): Buffer {
  const samples = Buffer.alloc(1_600, 128)
  const head = Buffer.alloc(44)
  head.write('RIFF\0\0\0\0WAVEfmt ')
  head.writeUInt32LE(36 + samples.length, 4)
  head.writeUInt32LE(16, 16)
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    head.writeUInt16LE(value, at)
  for (const at of [24, 28]) head.writeUInt32LE(8_000, at)
  head.write('data', 36)
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}

const uri = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`
const small = png(12, 9, 0)
const large = png(160, 120, 1)
const pdf = Buffer.from('%PDF-1.4 of two pages')

const answer = `## Your order

It is **on its way**, see [the tracking page](https://parcels.example/8812).

1. Packed on Monday
2. Handed over
   - by van

| Step | When |
| --- | --- |
| Packed | Mon |

\`\`\`
status = "moving"
\`\`\`
> Thanks!`

const hostile = [
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '![pixel](https://evil.example/pixel.png)',
  '[x](javascript:alert(1)) [y](data:text/html,<script>) <https://evil.example>',
  '# <iframe src=//evil.example>',
  '> <svg/onload=alert(1)> \u202eevil',
  '| <b>a | b |\n|---|---|\n| <img src=//evil.example/x> | `<script>` |',
].join('\n\n')

beforeAll(async () => {
  world = await startWorld('acme/media')
  const { project, url } = world
  const form = new FormData()
  form.set('project_id', project)
  form.set('file', new Blob([new Uint8Array(large)]), 'image.png')
  const headers = { authorization: `Basic ${btoa('api:test-key')}` }
  const stored = await fetch(`${url}/file/create`, { method: 'POST', headers, body: form })
  const { digest } = (await stored.json()) as { digest: string }
  const weave_type = { type: 'PIL.Image.Image' }
  const messages = (content: unknown) => ({ messages: [{ role: 'user', content }] })
  const image = (value: string) => ({ type: 'image_url', image_url: { url: value } })
  const url_citation = { url: 'https://parcels.example/8812', title: 'Tracking' }
  const said = (content: string) => ({ choices: [{ message: { role: 'assistant', content } }] })
  const content = [
    { token: 'On', logprob: -0.00001 },
    { token: ' its', logprob: -2.3 },
  ]
  const message = { ...said(answer).choices[0]?.message, annotations: [{ type: 'url_citation', url_citation }] }
  const grounds = { choices: [{ message, logprobs: { content } }], citations: ['https://carrier.example/'] }
  await world.send([
    call(project, {
      id: ids.answered,
      trace,
      name: 'answered',
      startMs: Date.now() - 9_000,
      inputs: messages([
        { type: 'text', text: 'Where is **this**?' },
        image(uri('image/png', small)),
        image(uri('image/png', large)),
        { type: 'input_audio', input_audio: { data: wav().toString('base64'), format: 'wav' } },
        { type: 'file', file: { filename: 'plan.pdf', file_data: uri('application/pdf', pdf) } },
      ]),
      output: { ...said(answer), ...grounds },
    }),
    call(project, {
      id: ids.payload,
      trace,
      name: 'payload',
      startMs: Date.now() - 8_000,
      inputs: { nested: [{ shot: { _type: 'CustomWeaveType', weave_type, files: { 'image.png': digest } } }] },
      output: { drawn: uri('image/png', small) },
    }),
    call(project, {
      id: ids.inlined,
      trace,
      name: 'inlined',
      startMs: Date.now() - 7_500,
      inputs: messages(
        `Like ${uri('image/png', small)}, not ${uri('image/svg+xml', Buffer.from('<svg onload="alert(1)"/>'))}.`,
      ),
      output: said(`![x](${uri('image/png', Buffer.from('<html><script>alert(1)</script>'))})`),
    }),
    call(project, {
      id: ids.hostile,
      trace,
      name: 'hostile',
      startMs: Date.now() - 7_000,
      inputs: messages([
        image('https://evil.example/x.png'),
        image('javascript:alert(1)'),
        image(uri('image/png', Buffer.from('<html><script>alert(1)</script>'))),
        image(uri('image/svg+xml', Buffer.from('<svg onload="alert(1)" xmlns="http://www.w3.org/2000/svg"/>'))),
        { type: 'file', file: { filename: '../<b>.html', file_data: uri('text/html', Buffer.from('<script>')) } },
      ]),
      output: { ...said(hostile), citations: ['javascript:alert(1)', { title: '<b>bold</b>' }] },
    }),
  ])
  here = await world.open()
})
afterAll(() => world?.close())
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await picture(here.page, task.name.replaceAll(/\W+/g, '-'))
  expect(here.faults.splice(0)).toEqual([])
})

const go = (id: string) => here.page.goto(`${world.url}/p/${world.project}/traces/${trace}?call=${id}`)
/** Widths of the pictures, once they are drawn. */
const drawn = () =>
  here.page.evaluate("[...document.querySelectorAll('.reader img')].map((one) => one.complete && one.naturalWidth)")

it('images and sound of messages show, whether they lie in the call or the server took them out', async () => {
  const { page } = here
  await go(ids.answered)
  await expectSoon(drawn).toEqual([12, 160])
  await expectSoon(() => page.evaluate("document.querySelector('audio').readyState > 0")).toBe(true)
  await page.getByRole('button', { name: /image/ }).last().click()
  await page.getByRole('dialog').locator('img').waitFor()
  await page.keyboard.press('Escape')
})

it('images of payloads show above the JSON, with where they stand, and small in it', async () => {
  const { page } = here
  await go(ids.payload)
  await expectSoon(drawn).toEqual([160, 12, 12])
  expect(await page.getByRole('tree', { name: 'Output' }).innerText()).not.toContain('base64')
  await page.getByRole('tree', { name: 'Output' }).getByRole('button', { name: 'image/png' }).click()
  await page.getByRole('dialog').locator('img').waitFor()
  await page.keyboard.press('Escape')
  await expectSoon(() => page.locator('.media-list code').allInnerTexts()).toEqual([
    'inputs.nested.0.shot',
    'output.drawn',
  ])
})

it('images that are written into texts show in their places; what is none stays text', async () => {
  const { page } = here
  await go(ids.inlined)
  await expectSoon(drawn).toEqual([12])
  const text = await page.getByRole('list', { name: 'Messages' }).innerText()
  expect(text).toMatch(/Like\s+image\/png\s*, not data:image\/svg\+xml;base64,/)
  expect(text).toContain('![x](data:image/png;base64,')
  expect(text).not.toContain(small.toString('base64'))
  expect(await everybodysFaults(page, 'images in texts')).toEqual([])
})

it('answers are rendered as Markdown when that is switched on, also after a reload; what was sent stays as it is', async () => {
  const { page } = here
  await go(ids.answered)
  await page.getByText('## Your order').waitFor()
  await page.getByRole('treegrid', { name: 'Spans' }).focus()
  await page.keyboard.press('m')
  await page.getByRole('heading', { name: 'Your order' }).waitFor()
  await page.reload()
  const shown = page.locator('.markdown')
  await shown.getByRole('heading', { name: 'Your order' }).waitFor()
  await expectSoon(() => shown.locator('li').count()).toBe(3)
  await expectSoon(() => shown.getByRole('cell').allInnerTexts()).toEqual(['Packed', 'Mon'])
  const link = shown.getByRole('link', { name: 'the tracking page' })
  await expectSoon(() => link.getAttribute('rel')).toBe('noopener noreferrer nofollow')
  await expectSoon(() => link.getAttribute('title')).toBe('https://parcels.example/8812')
  await page.getByText('Where is **this**?').waitFor()
  await page.getByRole('button', { name: 'Markdown' }).click()
  await page.getByText('## Your order').waitFor()
})

it('the sources of an answer, and the probabilities of its parts, are below it', async () => {
  const { page } = here
  await go(ids.answered)
  const citations = page.getByRole('region', { name: 'Citations' })
  await expectSoon(() =>
    citations.getByRole('link').evaluateAll((all) => all.map((one) => one.getAttribute('href'))),
  ).toEqual(['https://parcels.example/8812', 'https://carrier.example/'])
  await page.getByRole('button', { name: 'Log probabilities' }).press('Enter')
  const likely = page.getByRole('group', { name: 'Probability of each token' })
  await expectSoon(() => likely.innerText()).toBe('On its')
  await expectSoon(() => likely.locator('.doubt-4').getAttribute('title')).toBe('10 %')
  expect(await everybodysFaults(page, 'grounds')).toEqual([])
})

it('hostile messages run nothing, load nothing and add nothing: what is no image is saved as a file', async () => {
  const { page } = here
  await go(ids.hostile)
  await page.getByText('# <iframe src=//evil.example>').waitFor()
  await page.getByRole('button', { name: 'Markdown' }).click()
  await page.locator('.markdown').waitFor()
  await expectSoon(() => page.locator('.reader a[download]').count()).toBe(3)
  await expectSoon(() => page.locator('.reader :is(img, iframe, script, b, object, embed)').count()).toBe(0)
  await expectSoon(() => page.locator('.reader svg:not(.i)').count()).toBe(0)
  const links = await page.locator('.reader a[target]').evaluateAll((all) => all.map((one) => one.getAttribute('href')))
  expect(links).toEqual(['https://evil.example/x.png', 'https://evil.example/pixel.png', 'https://evil.example/'])
  await expectSoon(() => page.locator('.citations li').allInnerTexts()).toEqual(['javascript:alert(1)', '<b>bold</b>'])
  const names = await page
    .locator('.reader a[download]')
    .evaluateAll((all) => all.map((one) => one.getAttribute('download')))
  expect(names.at(-1)).not.toMatch(/[/<>]/)
  await page.getByRole('heading', { name: '<iframe src=//evil.example>' }).waitFor()
  await expectSoon(() => page.locator('.markdown').innerText()).toContain('RLO')
  await page.getByRole('button', { name: 'Markdown' }).click()
})

it('images and PDFs of a call go along into the playground; what a model cannot be sent is told', async () => {
  const { page } = here
  const sent: { messages: { content: unknown }[] }[] = []
  await page.route('**/inference/v1/chat/completions', (route) => {
    sent.push(route.request().postDataJSON())
    return route.fulfill({ headers: { 'content-type': 'text/event-stream' }, body: 'data: [DONE]\n\n' })
  })
  const run = async (id: string) => {
    await page.goto(`${world.url}/p/${world.project}/playground?call=${id}`)
    await page.getByLabel('Name of model 1').fill('model-a')
    await page.keyboard.press('Control+Enter')
    await expectSoon(() => sent.length).toBe(1)
    return sent.pop()?.messages
  }
  const content = [
    { type: 'text', text: 'Where is **this**?' },
    ...[small, large].map((one) => ({ type: 'image_url', image_url: { url: uri('image/png', one) } })),
    { type: 'file', file: { filename: 'plan.pdf', file_data: uri('application/pdf', pdf) } },
  ]
  expect(await run(ids.answered)).toEqual([{ role: 'user', content }])
  await page.getByText(/^1 file of this call not included/).waitFor()
  expect(await everybodysFaults(page, 'playground')).toEqual([])
  // The provider fetched it before, so it is asked to again: the page loads nothing.
  const elsewhere = { type: 'image_url', image_url: { url: 'https://evil.example/x.png' } }
  expect(await run(ids.hostile)).toEqual([{ role: 'user', content: [elsewhere] }])
  await page.getByText('is external and not loaded here').waitFor()
  await page.getByText(/^4 files of this call not included/).waitFor()
  await expectSoon(() => page.locator('.playground img').count()).toBe(0)
  await page.unroute('**/inference/v1/chat/completions')
})

it('media and Markdown are for everybody: axe finds no fault in both themes, and 320 pixels are enough', async () => {
  const { page } = here
  const found: string[] = []
  for (const id of Object.values(ids)) {
    await go(id)
    await page
      .locator(id === ids.payload ? '.media-list img' : '.message')
      .first()
      .waitFor()
    if (id === ids.answered) await page.getByRole('button', { name: 'Markdown' }).click()
    await page.locator('.message .media, .media-list .media, .message .small-picture').first().waitFor()
    found.push(...(await everybodysFaults(page, id)))
  }
  expect(found).toEqual([])
})

it('images in columns of the list are small pictures, larger when they are pressed; other contents are signs', async () => {
  const { page } = here
  await page.goto(`${world.url}/p/${world.project}/calls?view=all&cols=inputs.nested.0.shot,inputs.messages.0.content`)
  const small = page.locator('.rows .row img')
  await expectSoon(() => small.count()).toBe(1)
  await expectSoon(() => page.evaluate("document.querySelector('.rows .row img').naturalWidth")).toBe(160)
  expect(await everybodysFaults(page, 'small pictures')).toEqual([])
  await small.click()
  const dialog = page.getByRole('dialog', { name: 'image.png' })
  await dialog.locator('img').waitFor()
  // Keys within it are not those of the list.
  await page.keyboard.press('Enter')
  await expectSoon(() => page.getByRole('dialog').count()).toBe(0)
  expect(new URL(page.url()).pathname).toMatch(/calls$/)
})
