// Stored and shown forms of each kind of evaluation object, and other writers' objects in them.
import { beforeAll, describe, expect, it } from 'vitest'
import { parseRef } from '../../services/content/refs.ts'
import { type Evaluations, evaluationsOf, type Json, type Kind } from '../fixtures/evaluation-objects.ts'
import type { RunningServer } from '../fixtures/live-server.ts'
import { sharedServer } from '../fixtures/shared-server.ts'

let server: RunningServer
beforeAll(async () => {
  server = await sharedServer()
})

const project_id = 'acme/kinds'
let of: Evaluations
beforeAll(() => {
  of = evaluationsOf(server, project_id)
})

const publish = (object_id: string, val: unknown) =>
  server.send<{ digest: string }>('/obj/create', { obj: { project_id, object_id, val } })
const stored = async (object_id: string, digest = 'latest') =>
  (await server.send<{ obj: Json }>('/obj/read', { project_id, object_id, digest })).obj
const shown = async (kind: Kind, id: string, digest = 'latest') => {
  const { status, json } = await of.read(kind, id, digest)
  expect(status).toBe(200)
  const line = (await of.list(kind)).find(
    ({ object_id, version_index }) => object_id === id && version_index === json.version_index,
  )
  expect(line).toEqual(json)
  const { object_id: _, digest: __, version_index: ___, created_at: ____, ...own } = json
  return own
}
const refused = async (kind: Kind, body: unknown) => {
  const { status, json } = await of.send('POST', kind, body)
  return [status, status === 422 ? json.detail.map((one: Json) => [one.loc.join('.'), one.type]) : typeof json.reason]
}
const classOf = (name: string, ...above: string[]) => ({
  _type: name,
  _class_name: name,
  _bases: [...above, 'Object', 'BaseModel'],
})
const opRef = (id: string) =>
  expect.stringMatching(new RegExp(`^weave:///${project_id}/op/${id.replaceAll('.', '\\.')}:\\w{43}$`))
/** The code of an op that a ref names. */
const codeOf = async (ref: string) => {
  const parsed = parseRef(ref)
  if (parsed?.kind !== 'op') throw new Error(ref)
  return (await of.read('ops', parsed.name, parsed.version)).json.code
}

describe('ops', () => {
  it('keep their source in a file', async () => {
    const source_code = `def f(x):\n\treturn "é 😀" + x  # ${'x'.repeat(100_000)}`
    const { digest } = await of.create('ops', { name: 'With Source', source_code })
    const { val, kind, base_object_class } = await stored('with_source')
    const file = val.files['obj.py']
    expect([val, kind, base_object_class]).toEqual([
      { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: { 'obj.py': expect.stringMatching(/^\w+$/) } },
      'op',
      null,
    ])
    const content = await fetch(`${server.now().url}/file/content`, {
      method: 'POST',
      headers: { authorization: 'Bearer test-key' },
      body: JSON.stringify({ project_id, digest: file }),
    })
    expect(await content.text()).toBe(source_code)
    expect(await shown('ops', 'with_source')).toEqual({ code: source_code })
    for (const eager of ['true', 'false', '1'])
      expect((await of.send('GET', `ops/with_source/versions/${digest}?eager=${eager}`)).json.code).toBe(source_code)
    expect((await of.send('GET', 'ops/with_source/versions/v0?eager=maybe')).json).toEqual({
      detail: [expect.objectContaining({ loc: ['query', 'eager'], type: 'bool_parsing' })],
    })
    for (const plural of ['datasets', 'scorers', 'evaluations', 'models'])
      expect((await of.send('GET', `${plural}/with_source/versions/v0?eager=maybe`)).status).toBe(404)
  })

  it('are placeholders without a source, and have a name of their own without a name', async () => {
    for (const body of [{}, { name: null, source_code: null }])
      expect(await of.create('ops', body)).toMatchObject({ object_id: 'Op', version_index: 0 })
    expect((await shown('ops', 'Op')).code).toContain('def ')
    const named = await of.create('ops', { name: 'bare' })
    expect(await of.create('ops', { name: 'Op' })).toMatchObject({ object_id: 'op', digest: named.digest })
    expect(await of.create('ops', { source_code: 'x' })).toMatchObject({ object_id: 'Op', version_index: 1 })
    expect((await of.create('ops', { name: 'empty', source_code: '' })).digest).not.toBe(named.digest)
    expect(await shown('ops', 'empty')).toEqual({ code: '' })
  })

  it('of other writers are shown with the code that can be read', async () => {
    const type = { _type: 'CustomWeaveType', weave_type: { type: 'Op' } }
    await publish('no.files', type)
    await publish('lost-file', { ...type, files: { 'obj.py': 'a'.repeat(43) } })
    await publish('odd-file', { ...type, files: { 'obj.py': 7 } })
    for (const id of ['no.files', 'lost-file', 'odd-file']) expect(await shown('ops', id)).toEqual({ code: '' })
    await publish('plain', { code: 'x' })
    expect((await of.read('ops', 'plain', 'latest')).status).toBe(404)
  })

  it('refuse what is no text', async () => {
    expect(await refused('ops', { name: 1, source_code: [] })).toEqual([
      422,
      [
        ['body.name', 'string_type'],
        ['body.source_code', 'string_type'],
      ],
    ])
  })
})

describe('datasets', () => {
  it('keep their rows in a table, numbers as they were sent', async () => {
    const rows = '[{"a":1.0,"b":123456789012345678901},{"a":-0.0,"t":"é"},{}]'
    const made = await of.send('POST', 'datasets', `\ufeff{"name":"My Data","description":"some","rows":${rows}}`)
    expect(made.status).toBe(200)
    const { rows: ref, ...rest } = await shown('datasets', 'my_data')
    expect(rest).toEqual({ name: 'My Data', description: 'some' })
    const table = new RegExp(`^weave:///${project_id}/table/(\\w{64})$`).exec(ref)?.[1]
    const answer = await fetch(`${server.now().url}/table/query`, {
      method: 'POST',
      headers: { authorization: 'Bearer test-key' },
      body: JSON.stringify({ project_id, digest: table }),
    })
    const text = await answer.text()
    for (const row of ['{"a":1.0,"b":123456789012345678901}', '{"a":-0.0,"t":"é"}', '{}'])
      expect(text).toContain(`"val":${row}`)
    const { val, base_object_class } = await stored('my_data')
    expect([val, base_object_class]).toEqual([
      { ...classOf('Dataset'), name: 'My Data', description: 'some', rows: ref },
      'Dataset',
    ])
  })

  it('have a name of their own without one', async () => {
    expect(await of.create('datasets', { rows: [] })).toMatchObject({ object_id: 'Dataset', version_index: 0 })
    expect(await of.create('datasets', { name: null, description: null, rows: [] })).toMatchObject({ version_index: 0 })
    expect(await shown('datasets', 'Dataset')).toMatchObject({ name: 'Dataset', description: null })
  })

  it('of other writers count with their subclasses', async () => {
    const rows = `weave:///${project_id}/table/${'a'.repeat(64)}`
    await publish('sub', { ...classOf('Golden', 'Dataset'), rows, name: 7 })
    expect(await shown('datasets', 'sub')).toEqual({ name: 'sub', description: null, rows })
    await publish('rowless', { ...classOf('Dataset'), rows: [1], name: 'n' })
    expect(await shown('datasets', 'rowless')).toEqual({ name: 'n', description: null, rows: '' })
    await publish('deep', { ...classOf('Other', 'Sub'), rows })
    expect((await of.read('datasets', 'deep', 'latest')).status).toBe(404)
  })

  it('need rows, and rows are objects', async () => {
    expect(await refused('datasets', { name: 'x' })).toEqual([422, [['body.rows', 'missing']]])
    expect(await refused('datasets', { rows: {} })).toEqual([422, [['body.rows', 'list_type']]])
    expect(await refused('datasets', { rows: null })).toEqual([422, [['body.rows', 'list_type']]])
    expect(await refused('datasets', { rows: [{}, 1] })).toEqual([422, [['body.rows.1', 'dict_type']]])
    expect(await refused('datasets', { rows: [{ ref: 'weave-trace-internal:///x/object/y:z' }] })).toEqual([
      400,
      'string',
    ])
  })
})

describe('scorers', () => {
  it('have ops of their own', async () => {
    const source = 'def score(output): return 1'
    const made = await of.create('scorers', { name: 'My Scorer', description: 'd', op_source_code: source })
    expect(await shown('scorers', 'my_scorer')).toEqual({
      name: 'My Scorer',
      description: 'd',
      score_op: opRef('my_scorer_score'),
    })
    const { val, base_object_class, digest } = await stored('my_scorer')
    expect([val, base_object_class, digest]).toEqual([
      {
        ...classOf('Scorer'),
        name: 'My Scorer',
        description: 'd',
        column_map: null,
        score: opRef('my_scorer_score'),
        summarize: opRef('my_scorer_summarize'),
      },
      'Scorer',
      made.digest,
    ])
    expect(await codeOf(val.score)).toBe(source)
    expect(await codeOf(val.summarize)).toContain('def ')
    expect((await of.list('ops')).map(({ object_id }) => object_id)).toEqual(
      expect.arrayContaining(['my_scorer_score', 'my_scorer_summarize']),
    )
  })

  it('of other writers may name their op by its digest, or not at all', async () => {
    const digest = 'A'.repeat(43)
    await publish('bare', { ...classOf('Scorer'), score: digest })
    await publish('judge', { ...classOf('Judge', 'Scorer'), score: `weave:///${project_id}/op/Judge.score:${digest}` })
    await publish('none', { ...classOf('Judge', 'Scorer'), name: 'Nameless' })
    expect(await shown('scorers', 'bare')).toMatchObject({
      name: 'bare',
      score_op: `weave:///${project_id}/op/bare_score:${digest}`,
    })
    expect(await shown('scorers', 'judge')).toMatchObject({
      score_op: `weave:///${project_id}/op/Judge.score:${digest}`,
    })
    expect(await shown('scorers', 'none')).toEqual({ name: 'Nameless', description: null, score_op: '' })
  })

  it('are refused when a part is missing, or their ops cannot have a name', async () => {
    expect(await refused('scorers', {})).toEqual([
      422,
      [
        ['body.name', 'missing'],
        ['body.op_source_code', 'missing'],
      ],
    ])
    expect(await refused('scorers', { name: 'x'.repeat(128), op_source_code: '' })).toEqual([400, 'string'])
  })
})

describe('evaluations', () => {
  const dataset = `weave:///${project_id}/object/set:latest`
  const scorers = [`weave:///${project_id}/object/s:v0`, `weave:///other/place/op/f.score:${'a'.repeat(43)}`]

  it('name their data, their scorers and three ops', async () => {
    const body = { name: 'My Eval', description: 'd', dataset, scorers, trials: 3, evaluation_name: 'run name' }
    const made = await of.create('evaluations', body)
    expect(made.object_id).toBe('my_eval')
    const ops = ['evaluate', 'predict_and_score', 'summarize']
    expect(await shown('evaluations', 'my_eval')).toEqual({
      ...body,
      ...Object.fromEntries(ops.map((op) => [`${op}_op`, opRef(`my_eval.${op}`)])),
    })
    const { val, base_object_class } = await stored('my_eval')
    expect([val, base_object_class]).toEqual([
      {
        ...classOf('Evaluation'),
        ...body,
        metadata: null,
        preprocess_model_input: null,
        ...Object.fromEntries(ops.map((op) => [op, opRef(`my_eval.${op}`)])),
      },
      'Evaluation',
    ])
    for (const op of ops) expect(await codeOf(val[op])).toContain('def ')
    // Deleted ops live again with the next version.
    await of.remove('ops', 'my_eval.evaluate')
    await of.create('evaluations', { ...body, trials: 4 })
    expect((await of.read('ops', 'my_eval.evaluate', 'latest')).status).toBe(200)
  })

  it('have defaults, and attributes on top that do not change what they are', async () => {
    await of.create('evaluations', { name: 'least', dataset, scorers: null, trials: null })
    expect(await shown('evaluations', 'least')).toMatchObject({
      name: 'least',
      description: null,
      scorers: [],
      trials: 1,
      evaluation_name: null,
    })
    const attributes = '{"cost":1.0,"trials":7,"name":"other","_bases":[],"_class_name":"X","_type":"X"}'
    const sent = `{"name":"top","dataset":"${dataset}","eval_attributes":${attributes}}`
    expect((await of.send('POST', 'evaluations', sent)).status).toBe(200)
    expect(await shown('evaluations', 'top')).toMatchObject({ trials: 7, name: 'other' })
    const { val } = await stored('top')
    expect(val).toMatchObject({ ...classOf('Evaluation'), cost: 1, dataset })
  })

  it('of other writers are shown as far as they are known', async () => {
    const digest = 'B'.repeat(43)
    const ref = `weave:///${project_id}/op/Evaluation.evaluate:${digest}`
    const own = { scorers: [scorers[0], { inline: true }], trials: 'many', evaluate: ref, summarize: digest }
    await publish('sdk', { ...classOf('MyEvaluation', 'Evaluation'), name: null, dataset: [1], ...own })
    expect(await shown('evaluations', 'sdk')).toEqual({
      name: 'sdk',
      description: null,
      dataset: '',
      scorers: [scorers[0]],
      trials: 1,
      evaluation_name: null,
      evaluate_op: ref,
      predict_and_score_op: null,
      summarize_op: `weave:///${project_id}/op/sdk.summarize:${digest}`,
    })
  })

  it('are refused without a dataset, with what is no ref and with fewer than one trial', async () => {
    const body = { name: 'x', dataset }
    for (const [wrong, expected] of [
      [{ dataset: undefined }, [422, [['body.dataset', 'missing']]]],
      [{ name: null }, [422, [['body.name', 'string_type']]]],
      [{ scorers: [1] }, [422, [['body.scorers.0', 'string_type']]]],
      [{ trials: 0 }, [422, [['body.trials', 'greater_than_equal']]]],
      [{ trials: 1.5 }, [422, [['body.trials', 'int_from_float']]]],
      [{ eval_attributes: [] }, [422, [['body.eval_attributes', 'dict_type']]]],
      [{ dataset: 'set' }, [400, 'string']],
      [{ dataset: 'weave:///acme/kinds/call/x' }, [400, 'string']],
      [{ dataset: 'weave:///acme/kinds/object/set' }, [400, 'string']],
      [{ scorers: [scorers[0], 'weave:///'] }, [400, 'string']],
      [{ name: 'x'.repeat(125) }, [400, 'string']],
    ] as const)
      expect([wrong, await refused('evaluations', { ...body, ...wrong })]).toEqual([wrong, expected])
  })
})

describe('models', () => {
  it('keep source and attributes, numbers as they were sent', async () => {
    const attributes = '{"temperature":1.0,"seed":123456789012345678901,"nested":{"a":[null]},"é":"x"}'
    const sent = `{"name":"My Model","source_code":"class M: pass","attributes":${attributes}}`
    expect((await of.send('POST', 'models', sent)).status).toBe(200)
    const { text } = await of.read('models', 'my_model', 'latest')
    expect(text).toContain(`"attributes":${attributes}`)
    const line = (await of.send('GET', 'models')).text.split('\n').find((one) => one.includes('"my_model"'))
    expect(line).toBe(text)
    expect(await shown('models', 'my_model')).toMatchObject({
      name: 'My Model',
      description: null,
      source_code: 'class M: pass',
    })
    const { val, base_object_class } = await stored('my_model')
    expect([val, base_object_class]).toEqual([
      {
        ...classOf('Model'),
        name: 'My Model',
        description: null,
        files: { 'obj.py': expect.any(String) },
        ...(JSON.parse(attributes) as Json),
      },
      'Model',
    ])
  })

  it('keep what the request says when an attribute has the same name', async () => {
    const attributes = { name: 'other', files: {}, _class_name: 'X', _bases: [], free: 1 }
    await of.create('models', { name: 'same', description: 'd', source_code: 's', attributes })
    expect(await shown('models', 'same')).toEqual({
      name: 'same',
      description: 'd',
      source_code: 's',
      attributes: { free: 1 },
    })
    await of.create('models', { name: 'attributeless', source_code: '', attributes: {} })
    expect(await shown('models', 'attributeless')).toEqual({
      name: 'attributeless',
      description: null,
      source_code: '',
      attributes: null,
    })
  })

  it('of other writers may have no source', async () => {
    const predict = `weave:///${project_id}/op/MyModel.predict:${'a'.repeat(43)}`
    await publish('sdk_model', { ...classOf('MyModel', 'Model'), name: null, description: 'from an SDK', predict })
    expect(await shown('models', 'sdk_model')).toEqual({
      name: 'sdk_model',
      description: 'from an SDK',
      source_code: '',
      attributes: { predict },
    })
  })

  it('are refused when a part is missing', async () => {
    expect(await refused('models', { attributes: 1 })).toEqual([
      422,
      [
        ['body.name', 'missing'],
        ['body.source_code', 'missing'],
        ['body.attributes', 'dict_type'],
      ],
    ])
  })
})
