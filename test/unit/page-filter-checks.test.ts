// Filters that say nothing: unknown fields, values, units and operators are refused, with what is meant.
import { describe, expect, it } from 'vitest'
import { columnName, columnNamed } from '../../services/web/page/calls/columns.ts'
import { hasText, parsed } from '../../services/web/page/engine/calls-search.ts'
import {
  beginsSo,
  completed,
  fieldOfPath,
  fieldSuggestions,
  namedFields,
  offeredAt,
  plainFieldsOf,
  sentNameOf,
  tabbedAt,
  valueSuggestions,
  withSearch,
  writtenAt,
} from '../../services/web/page/engine/completion.ts'
import { filterFields, pathOf } from '../../services/web/page/engine/filter-fields.ts'
import { requestOf } from '../../services/web/page/engine/query-request.ts'
import { parseQuery, queryText } from '../../services/web/page/engine/query-text.ts'

const problems = (q: string) => parsed(q).problems.map(({ message, fixes }) => [message, ...fixes.map((fix) => fix.q)])
const request = (q: string, zone = 'UTC') => requestOf(parseQuery(q), 'a/b', { zoneOf: () => zone })

describe('a term that cannot match is refused with a suggestion', () => {
  it.each([
    ['status:failed', ['status must be error, success, running or descendant_error, not failed', 'status:error']],
    ['status:err', ['status must be error, success, running or descendant_error, not err', 'status:error']],
    ['status:Error', ['status must be error, success, running or descendant_error, not Error', 'status:error']],
    ['status:(ok, error)', [expect.any(String), 'status:(success, error)']],
    ['tenant:north', ['Unknown field tenant', '"tenant:north"']],
    ['statsu:error', ['Unknown field statsu', 'status:error', '"statsu:error"']],
    ['Model:x', ['Unknown field Model', 'model:x', '"Model:x"']],
    ['duration>2s', ['duration is a field of traces: add is:root to count traces', 'latency>2s']],
    ['took>2s', ['Unknown field took', 'latency>2s', '"took>2s"']],
    ['customer:noor', ['Unknown field customer', 'end_user:noor', '"customer:noor"']],
    ['https://example.com', ['Unknown field https', '"https://example.com"']],
    ['inptus.k:1', ['Unknown field inptus.k', 'inputs.k:1', '"inptus.k:1"']],
    ['outputs.score>0.5', ['Unknown field outputs.score', 'output.score>0.5', '"outputs.score>0.5"']],
    ['latency>2x', ['latency must be a duration with ms, s, m or h, such as latency>2s, not 2x', 'latency>2s']],
    [
      'latency>2 parsecs',
      [
        'latency must be a duration with ms, s, m or h, such as latency>2s, not 2 parsecs',
        'latency>2s',
        'latency>2ms parsecs',
      ],
    ],
    ['op:a -latency>1.5 min x', [expect.any(String), 'op:a -latency>90s x']],
    ['(latency<2 h) OR x', [expect.any(String), '(latency<120m) OR x']],
    ['tokens>2 million', [expect.any(String), 'tokens>2000000']],
    ['cost>7 cents', [expect.any(String), 'cost>0.07']],
    ['latency>90min', [expect.any(String), 'latency>90m']],
    ['tokens>many', ['tokens must be a number, such as tokens>1000 or tokens>1k, not many']],
    ['tokens>"1,000"', [expect.any(String), 'tokens>1000']],
    ['cost>1€', [expect.any(String), 'cost>1']],
    ['cost~1', ['cost supports :, =, >, >=, < or <=, not ~', 'cost:1']],
    ['op>x', ['op supports :, = or ~, not >', 'op:x']],
    ['started:2026-01-05', ['started supports >, >=, < or <=, not :']],
    ['started>soon', [expect.any(String)]],
    ['has:modle', ['Unknown field modle', 'has:model']],
    ['op:a (x OR -staus:error)', ['Unknown field staus', 'op:a (x OR -status:error)', 'op:a (x OR -"staus:error")']],
  ])('%s', (q, expected) => {
    expect(problems(q)).toEqual([expected])
    expect(parsed(q)).toMatchObject({ expression: [], fault: { at: expect.any(Number) } })
    for (const [, ...fixes] of problems(q))
      for (const fix of fixes) expect([fix, problems(String(fix))]).toEqual([fix, []])
  })

  it('every field of the list, names that programs send, words and quoted texts are no problem', () => {
    const good = [
      'status:error model:claude-sonnet-4-5 tokens>1000 tokens>=1k cost>0.001 cost<$2 latency>2s latency<100',
      'input_tokens>1 output_tokens<5 name:answer op:answer end_user:noor user:noor user.id:noor run:abc turn:t',
      'metadata.tenant:blue attributes.x:1 gen_ai.request.temperature>0.5 langfuse.trace.metadata.tenant:blue',
      'inputs.k:5 output.score>0.5 inputs~text summary.usage:x feedback.quality:good scorer.judge.score<0.5',
      'has:model has:metadata.tenant is:root started>2026-01-05T12:00:00Z trace:1 id:5 queue:x ref:y',
      'latency>2 OR x',
      'tokens>2 "million"',
      'latency>2 "parsecs" tokens>1000 refund cost>0.01 refund latency>2 needle-3 latency>2 -h latency>2 status:error',
      'words 12:30 "foo:bar" "https://example.com" -needle a/b c++ what? needle-3',
    ]
    for (const q of good) expect([q, problems(q)]).toEqual([q, []])
    expect(parseQuery('needle-3 kitchen "foo:bar"')[0]?.map(({ type }) => type)).toEqual(['word', 'word', 'word'])
  })

  it('only words and texts of payloads are searched in texts', () => {
    const searches = (q: string) => hasText(parsed(q).expression)
    expect(['needle', '"foo:bar"', 'output~x', '(op:a OR needle)'].map(searches)).toEqual([true, true, true, true])
    expect(['foo:bar', 'error~x', 'model~gpt', 'status:error'].map(searches)).toEqual([false, false, false, false])
  })
})

const query = (q: string) => request(q).query?.$expr

describe('the request of a field to the server', () => {
  const field = (name: string) => ({ $getField: name })

  it('models are whole names in any case, or parts of them', () => {
    const contains = (name: string, substr: string) => ({
      $contains: { input: field(name), substr: { $literal: substr }, case_insensitive: true },
    })
    expect(query('model:gpt-4o')).toEqual(contains('summary.weave.models', 'gpt-4o'))
    expect(query('-model:(a, b)')).toEqual({
      $not: [{ $or: [contains('summary.weave.models', 'a'), contains('summary.weave.models', 'b')] }],
    })
    expect(query('model~gpt')).toEqual(contains('summary.weave.model', 'gpt'))
    expect(query('has:model')).toEqual({ $gt: [{ $size: field('summary.weave.models') }, { $literal: 0 }] })
  })

  it('tokens, cost and name are fields of the server', () => {
    const above = (name: string, value: unknown) => ({ $gt: [field(`summary.weave.${name}`), { $literal: value }] })
    expect(query('tokens>1.5k')).toEqual(above('tokens', 1500))
    expect(query('cost>$0.001')).toEqual(above('cost', 0.001))
    expect(query('name:answer')).toEqual({ $eq: [field('summary.weave.trace_name'), { $literal: 'answer' }] })
  })

  it.each([
    ['started>2026-01-05 12:00', 'started>2026-01-05T12:00'],
    ['-ended<=2026-01-05  9:05:30 OR x', '-ended<=2026-01-05T09:05:30 OR x'],
    ['(started>=2026-1-5 12:00:30.5Z) x', '(started>=2026-01-05T12:00:30.5Z) x'],
    ['started<2026-01-05 12:00 +02:00 12:30', 'started<2026-01-05T12:00+02:00 "12:30"'],
    // A word of a time stays one behind a day of its own, and behind other fields.
    ['started>2026-01-05 "12:00"', 'started>2026-01-05 "12:00"'],
    ['inputs.day:2026-01-05 12:00', 'inputs.day:2026-01-05 "12:00"'],
  ])('a time of the day belongs to the day before it, and is written so: %s', (q, written) => {
    expect(queryText(parseQuery(q))).toBe(written)
    expect([problems(q), parseQuery(written)]).toEqual([[], parseQuery(q)])
  })

  it('a day with a time of the day is an instant, and refused where it is none', () => {
    const above = (name: string, text: string) => ({
      $gt: [field(name), { $literal: Date.parse(text) / 1000 }],
    })
    expect(query('started>2026-01-05 12:00:30Z')).toEqual(above('started_at', '2026-01-05T12:00:30Z'))
    expect(query('ended>2026-01-05 12:00')).toEqual(above('ended_at', '2026-01-05T12:00Z'))
    expect(problems('since>2026-01-05 12:00')).toEqual([
      ['Unknown field since', 'started>2026-01-05T12:00', '"since>2026-01-05T12:00"'],
    ])
    for (const text of ['25:00', '12:60', '2:00 PM', '12:00h']) {
      const message = `${problems(`started>2026-01-05 ${text}`)[0]?.[0]}`
      expect(message).toMatch(/^started must be a time, such as started>2026-01-05T12:00, not 2026-01-05T/)
    }
  })

  it.each([
    ['2026-01-05', 'America/New_York', '2026-01-05T05:00Z'],
    ['2026-01-05', 'Asia/Tokyo', '2026-01-04T15:00Z'],
    ['2026-1-5 9:05', 'Asia/Kolkata', '2026-01-05T03:35Z'],
    ['2026-07-05', 'America/New_York', '2026-07-05T04:00Z'],
    ['2026-02', 'America/New_York', '2026-02-01T05:00Z'],
    ['2026-01-05 12:00:30.25', 'Asia/Tokyo', '2026-01-05T03:00:30.250Z'],
    ['2026-01-05 12:00', 'America/New_York', '2026-01-05T17:00Z'],
    ['2026-01-05 24:00', 'America/New_York', '2026-01-06T05:00Z'],
    // A clock that skips midnight begins its day after it.
    ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00Z'],
    // Times that name their zone mean it.
    ['2026-01-05 12:00Z', 'America/New_York', '2026-01-05T12:00Z'],
    ['2026-01-05 12:00 +02:00', 'America/New_York', '2026-01-05T10:00Z'],
  ])('%s in the zone %s is %s, with every comparison', (written, zone, instant) => {
    for (const [name, path] of [
      ['started', 'started_at'],
      ['ended', 'ended_at'],
    ] as const)
      for (const [operator, asked] of Object.entries({ '>': '$gt', '>=': '$gte', '<': '$lt', '<=': '$lte' }))
        expect(request(`${name}${operator}${written}`, zone).query?.$expr).toEqual({
          [asked]: [field(path), { $literal: Date.parse(instant) / 1000 }],
        })
  })

  it('the zone is looked up for times that name none alone', () => {
    const zoneOf = () => {
      throw new Error('looked up')
    }
    const ask = (q: string) => () => requestOf(parseQuery(q), 'a/b', { zoneOf })
    expect(ask('op:a started>2026-01-05T12:00Z latency>2s')).not.toThrow()
    expect(ask('started>2026-01-05')).toThrow('looked up')
  })

  it('names that programs send are attributes of calls and of spans; end users are no users of keys', () => {
    const equal = (name: string) => ({ $eq: [field(name), { $literal: 'blue' }] })
    expect(query('metadata.tenant:blue')).toEqual({
      $or: [equal('attributes.metadata.tenant'), equal('attributes.otel_span.attributes.metadata.tenant')],
    })
    // A resource is one of a span; `resource.name` may be an attribute as well.
    const ofResource = ['attributes.resource.a.b', 'attributes.otel_span.attributes.resource.a.b'].map(equal)
    const short = [...ofResource, equal('attributes.otel_span.resource.attributes.a.b')]
    expect([query('resource.a.b:blue'), problems('resource.a.b:blue')]).toEqual([{ $or: short }, []])
    expect(query('resource.attributes.service.name:blue')).toMatchObject({
      $or: expect.arrayContaining([equal('attributes.otel_span.resource.attributes.service.name')]),
    })
    expect(JSON.stringify(query('resources.a:blue'))).not.toContain('otel_span.resource.')
    for (const q of ['end_user:blue', 'user.id:blue']) expect(query(q)).toEqual(equal('attributes.end_user'))
    expect(request('user:noor run:abc').filter).toEqual({ wb_user_ids: ['noor'], wb_run_ids: ['abc'] })
  })
})

describe('what is offered', () => {
  it('every field, with what follows it', () => {
    const plainFields = plainFieldsOf('calls')
    for (const name of Object.keys(filterFields)) expect(plainFields.some((one) => one.startsWith(name))).toBe(true)
    expect(plainFields).toEqual(
      expect.arrayContaining(['model:', 'tokens>', 'cost>', 'end_user:', 'status:', 'error~']),
    )
  })

  it('attributes go by the names that programs send, and are found by any part of them', () => {
    expect(sentNameOf('attributes.otel_span.attributes.metadata.tenant')).toBe('metadata.tenant')
    expect(sentNameOf('attributes.metadata.tenant')).toBe('metadata.tenant')
    // As bare names these would be other fields, or none.
    expect(sentNameOf('attributes.end_user')).toBe('end_user')
    for (const path of ['attributes.end', 'attributes.inputs.k', 'inputs.k']) expect(sentNameOf(path)).toBe(path)
    expect(pathOf(fieldOfPath('attributes.x') ?? '')).toBe('attributes.x')
    expect([
      beginsSo('metadata.tenant', 'ten'),
      beginsSo('metadata.tenant', 'meta'),
      beginsSo('metadata.tenant', 'nant'),
    ]).toEqual([true, true, false])
  })

  it('names that lie in two places are one, and a point within a key reads as any other', () => {
    const both = ['attributes', 'attributes.otel_span.attributes'].map((at) => `${at}.metadata.tenant`)
    const flat = 'attributes.metadata\\.flat'
    const paths = [...both, flat, 'inputs.k', 'feedback.[x]'].map((path, n) => ({ path, calls: n + 1 }))
    expect(namedFields(paths)).toEqual([
      { name: 'metadata.tenant', shown: 'metadata.tenant', calls: 3 },
      { name: 'metadata\\.flat', shown: 'metadata.flat', calls: 3 },
      { name: 'inputs.k', shown: 'inputs.k', calls: 4 },
    ])
    expect([...both, flat, 'inputs.k', 'inputs'].map(columnName)).toEqual([
      ...['metadata.tenant', 'metadata.tenant', 'metadata.flat', 'inputs.k', 'Inputs'],
    ])
    expect(columnNamed('metadata.region')).toBe('attributes.metadata.region')
    for (const name of ['ten', 'model', 'inputs.k', 'metadata.', 'a.b c', 'x,y.z', 'session.id'])
      expect(columnNamed(name)).toBeUndefined()
  })

  it('attributes of spans complete to the field that finds them, without a number of other calls', () => {
    const ofSpans = ['tenant', 'metadata.tenant', 'gen_ai.request.model'].map((name) => ({
      path: `attributes.otel_span.attributes.${name}`,
      calls: 5,
    }))
    const found = { fields: [{ path: 'attributes.metadata.tenant', calls: 7 }], span_attributes: { fields: ofSpans } }
    const offered = fieldSuggestions(found, 'tenan', 'calls')
    expect(offered).toEqual([
      { value: 'metadata.tenant:', shown: 'metadata.tenant', calls: 7 },
      {
        value: 'attributes.otel_span.attributes.tenant:',
        shown: 'attributes.otel_span.attributes.tenant',
        calls: null,
      },
    ])
    expect(fieldSuggestions(found, 'metadata.t', 'calls')).toEqual(offered.slice(0, 1))
    expect(fieldSuggestions({ fields: [] }, 'tenan', 'calls')).toEqual([])
    const { text } = completed('tenan', writtenAt('tenan', 5), offered[1]?.value ?? '')
    expect(problems(`${text}north`)).toEqual([])
    expect(query(`${text}north`)).toEqual({
      $eq: [{ $getField: 'attributes.otel_span.attributes.tenant' }, { $literal: 'north' }],
    })
  })

  it('attributes of resources complete to the field that finds them', () => {
    const path = 'attributes.otel_span.resource.attributes.service.name'
    const found = { fields: [], span_attributes: { fields: [{ path, calls: 5 }] } }
    expect(fieldSuggestions(found, 'serv', 'calls')).toEqual([{ value: `${path}:`, shown: path, calls: null }])
    expect([problems(`${path}:web`), query(`${path}:web`)]).toEqual([
      [],
      { $eq: [{ $getField: path }, { $literal: 'web' }] },
    ])
  })

  it('values of a name that lies in two places are counted once, and not by the latest spans', () => {
    const [north, south] = [
      { value: 'north', calls: 4 },
      { value: 'south', calls: 5 },
    ]
    const places = [{ values: [north] }, { values: [{ ...north, calls: 3 }, south], isOfFew: true }]
    expect(valueSuggestions('metadata.tenant', places, '')).toEqual([
      { value: 'south', shown: 'south', calls: null },
      { value: 'north', shown: 'north', calls: 4 },
    ])
    expect(valueSuggestions('metadata.tenant', places, 'No').map(({ value }) => value)).toEqual(['north'])
    const ops = [
      { value: 'weave:///a/b/op/x:1', calls: 1 },
      { value: 'weave:///a/b/op/x:2', calls: 2 },
    ]
    expect(valueSuggestions('op', [{ values: ops }], '')).toEqual([{ value: 'x', shown: 'x', calls: 3 }])
    expect(valueSuggestions('status', [{ values: [] }], 'e')).toEqual([{ value: 'error', shown: 'error', calls: null }])
  })
})

describe('what a key takes of the suggestions', () => {
  const found = { fields: ['attributes.metadata.tenant', 'inputs.req_tier'].map((path) => ({ path, calls: 7 })) }
  const taken = (line: string) => {
    const written = writtenAt(line, line.length)
    const offered = withSearch(fieldSuggestions(found, written.prefix, 'calls'), written.prefix)
    return [offeredAt(written, offered), tabbedAt(written, offered)].map((at) => offered[at]?.shown)
  }

  it.each<[line: string, byEnter: string | undefined, byTab: string | undefined]>([
    // By the beginning of a name, or of its last part.
    ['stat', 'status:', 'status:'],
    ['tena', 'metadata.tenant', 'metadata.tenant'],
    ['op:a -Tena', 'metadata.tenant', 'metadata.tenant'],
    ['tenant', 'metadata.tenant', 'metadata.tenant'],
    ['meta', 'metadata.tenant', 'metadata.tenant'],
    // By another part Tab alone does: Enter searches for the word.
    ['tie', undefined, 'inputs.req_tier'],
    // Enter searches for a word that is whole.
    ['status', undefined, 'status:'],
    // Nothing is written, or nothing goes on with it.
    ['', undefined, undefined],
    ['zzz', undefined, undefined],
    ['"tena', undefined, undefined],
  ])('%s', (line, ...names) => {
    expect(taken(line)).toEqual(names)
  })

  it('a word that begins like a field can be searched for, below the fields', () => {
    const offered = fieldSuggestions(found, 'tena', 'calls')
    expect(withSearch(offered, 'tena').at(-1)).toMatchObject({ shown: 'Search for "tena"', isSearch: true })
    expect(withSearch([], 'tena')).toEqual([])
    for (const line of ['', '"tena']) expect(withSearch(offered, line)).toEqual(offered)
  })
})
