// Each refusal of the line of a filter by its exact words, and the lines that it advises instead.
import { describe, expect, it } from 'vitest'
import { parsed } from '../../services/web/page/engine/calls-search.ts'
import { problemsOf } from '../../services/web/page/engine/filter-checks.ts'
import type { RowsOf } from '../../services/web/page/engine/filter-fields.ts'
import { fixesAmong } from '../../services/web/page/engine/near-fields.ts'
import { parseQuery, queryText } from '../../services/web/page/engine/query-text.ts'

type Refusal = [message: string, ...fixes: string[]]
const refusals = (q: string, rows: RowsOf = 'calls', advice = 'ask for traces'): Refusal[] =>
  problemsOf(parseQuery(q), rows, advice).map(({ message, fixes }) => [message, ...fixes.map((fix) => fix.q)])

const statusForm = 'status must be error, success, running or descendant_error'
const numberForm = 'must be a number, such as tokens>1000 or tokens>1k'
const moneyForm = 'cost must be an amount in dollars, such as cost>0.01'
const durationForm = 'latency must be a duration with ms, s, m or h, such as latency>2s'
const timeForm = 'must be a time, such as started>2026-01-05T12:00'

describe('a value that a field does not have', () => {
  it.each<[q: string, message: string, ...fixes: string[]]>([
    // Words of other products, in any case and with any joint.
    ['status:OK', `${statusForm}, not OK`, 'status:success'],
    ['status=failure', `${statusForm}, not failure`, 'status=error'],
    ['status:Error-Below', `${statusForm}, not Error-Below`, 'status:descendant_error'],
    ['status:"error below"', `${statusForm}, not error below`, 'status:descendant_error'],
    ['status:sucess', `${statusForm}, not sucess`, 'status:success'],
    ['status:pendng', `${statusForm}, not pendng`, 'status:running'],
    ['-status:ok', `${statusForm}, not ok`, '-status:success'],
    // Nothing is near: nothing is advised.
    ['status:blue', `${statusForm}, not blue`],
    ['status:500', `${statusForm}, not 500`],
    ['status:true', `${statusForm}, not true`],
    ['status:null', `${statusForm}, not null`],
    ['status:""', `${statusForm}, not `],
    ['status:(error, nope)', `${statusForm}, not nope`],
    ['status:(ok, error, failed)', `${statusForm}, not ok`, 'status:(success, error, error)'],
    // Members of every object are no words.
    ['status:constructor', `${statusForm}, not constructor`],
    ['status:__proto__', `${statusForm}, not __proto__`],
    ['status:hasOwnProperty', `${statusForm}, not hasOwnProperty`],
    // A long one is cut.
    [`status:${'x'.repeat(80)}`, `${statusForm}, not ${'x'.repeat(60)}`],
  ])('of a status: %s', (q, ...refusal) => {
    expect(refusals(q)).toEqual([refusal])
  })

  it.each<[q: string, message: string, ...fixes: string[]]>([
    ['tokens>"1000"', `tokens ${numberForm}, not 1000`, 'tokens>1000'],
    ['tokens>1_000', `tokens ${numberForm}, not 1_000`, 'tokens>1000'],
    ['tokens>"12,345,678"', `tokens ${numberForm}, not 12,345,678`, 'tokens>12345678'],
    ['tokens>"1.5k"', `tokens ${numberForm}, not 1.5k`, 'tokens>1500'],
    ['tokens>"5 million"', `tokens ${numberForm}, not 5 million`, 'tokens>5000000'],
    ['tokens>2bn', `tokens ${numberForm}, not 2bn`, 'tokens>2000000000'],
    ['input_tokens<"3 tokens"', `input_tokens ${numberForm}, not 3 tokens`, 'input_tokens<3'],
    ['output_tokens:many', `output_tokens ${numberForm}, not many`],
    ['tokens>NaN', `tokens ${numberForm}, not NaN`],
    ['tokens>Infinity', `tokens ${numberForm}, not Infinity`],
    ['tokens>true', `tokens ${numberForm}, not true`],
    ['tokens>null', `tokens ${numberForm}, not null`],
    ['tokens>""', `tokens ${numberForm}, not `],
    ['tokens>٣', `tokens ${numberForm}, not ٣`],
    // More than a number holds.
    ['tokens>1e999', `tokens ${numberForm}, not Infinity`],
    ['tokens>-1e999', `tokens ${numberForm}, not -Infinity`],
    // No unit, though every object has a member of this name.
    ['tokens>5constructor', `tokens ${numberForm}, not 5constructor`, 'tokens>5'],
    ['tokens:(1, "2", 3)', `tokens ${numberForm}, not 2`, 'tokens:(1, 2, 3)'],
    ['tokens:(1, many)', `tokens ${numberForm}, not many`],
  ])('of a count: %s', (q, ...refusal) => {
    expect(refusals(q)).toEqual([refusal])
  })

  it.each<[q: string, message: string, ...fixes: string[]]>([
    ['cost>1€', `${moneyForm}, not 1€`, 'cost>1'],
    ['cost>€2.50', `${moneyForm}, not €2.50`, 'cost>2.5'],
    ['cost>"$1,200.50"', `${moneyForm}, not $1,200.50`, 'cost>1200.5'],
    ['cost>1.5k', `${moneyForm}, not 1.5k`, 'cost>1500'],
    ['cost>"0.02 USD"', `${moneyForm}, not 0.02 USD`, 'cost>0.02'],
    ['cost>"- 5"', `${moneyForm}, not - 5`],
    ['cost>cheap', `${moneyForm}, not cheap`],
    ['cost>1e999', `${moneyForm}, not Infinity`],
  ])('of money: %s', (q, ...refusal) => {
    expect(refusals(q)).toEqual([refusal])
  })

  it.each<[q: string, message: string, ...fixes: string[]]>([
    ['latency>2sec', `${durationForm}, not 2sec`, 'latency>2s'],
    ['latency>"5 seconds"', `${durationForm}, not 5 seconds`, 'latency>5s'],
    ['latency>250msec', `${durationForm}, not 250msec`, 'latency>250ms'],
    ['latency>"250 milliseconds"', `${durationForm}, not 250 milliseconds`, 'latency>250ms'],
    ['latency>3mins', `${durationForm}, not 3mins`, 'latency>3m'],
    ['latency>1hour', `${durationForm}, not 1hour`, 'latency>60m'],
    ['latency>2days', `${durationForm}, not 2days`, 'latency>2880m'],
    ['latency>500us', `${durationForm}, not 500us`, 'latency>0.5ms'],
    ['latency>500µs', `${durationForm}, not 500µs`, 'latency>0.5ms'],
    ['latency>500μs', `${durationForm}, not 500μs`, 'latency>0.5ms'],
    ['latency>2000ns', `${durationForm}, not 2000ns`, 'latency>0.002ms'],
    // Without a unit a number is one of milliseconds, in quotes as well.
    ['latency>"5"', `${durationForm}, not 5`, 'latency>5ms'],
    ['latency>5constructor', `${durationForm}, not 5constructor`, 'latency>5s'],
    ['latency>slow', `${durationForm}, not slow`],
    ['latency>1e999s', `${durationForm}, not Infinity`],
  ])('of a duration: %s', (q, ...refusal) => {
    expect(refusals(q)).toEqual([refusal])
  })

  it.each([
    'started>2026-02-30',
    'started>2026-02-29',
    'started>2026-04-31T12:00',
    'started<=2026-13-01',
    'started>2026-00-10',
    'started>2026-01-00',
    'ended<2026-01-05T25:00',
    'ended<2026-01-05T12:00pm',
    'ended<soon',
    'started>2026',
    'started>"5 Jan 2026"',
    'started>""',
    'started>true',
  ])('of a time, also one of a day that its month does not have: %s', (q) => {
    const [, field = '', value = ''] = /^(\w+)[<>]=?"?(.*?)"?$/.exec(q) ?? []
    expect(refusals(q)).toEqual([[`${field} ${timeForm}, not ${value}`]])
  })

  it.each([
    'started>2024-02-29',
    'started>2000-02-29T23:59:59Z',
    'ended<=2026-12-31T23:59:59.999Z',
    'started>=2026-02',
    'started<2026-01-31T00:00:00+14:00',
    'tokens>1e3',
    'tokens>-1',
    'tokens>1.5K',
    'cost<$2',
    'latency>1.5h',
    'latency<0',
    'status:(error, success)',
    'model:(5, true, null)',
    'name:NaN',
    'id:00012345678901234567890',
  ])('is not %s', (q) => {
    expect(refusals(q)).toEqual([])
  })
})

describe('an operator that a field does not have', () => {
  it.each<[q: string, message: string, ...fixes: string[]]>([
    ['model>a', 'model supports :, = or ~, not >', 'model:a'],
    ['ref<=x', 'ref supports :, = or ~, not <=', 'ref:x'],
    ['status~err', 'status supports : or =, not ~'],
    ['status>error', 'status supports : or =, not >', 'status:error'],
    ['tokens~5', 'tokens supports :, =, >, >=, < or <=, not ~', 'tokens:5'],
    ['latency~5s', 'latency supports :, =, >, >=, < or <=, not ~', 'latency:5s'],
    ['started=2026-01-05', 'started supports >, >=, < or <=, not ='],
    ['ended~2026', 'ended supports >, >=, < or <=, not ~'],
    ['end_user>noor', 'end_user supports :, = or ~, not >', 'end_user:noor'],
  ])('%s', (q, ...refusal) => {
    expect(refusals(q)).toEqual([refusal])
  })
})

describe('a comparison with several values', () => {
  it.each<[q: string, message: string, ...fixes: string[]]>([
    ['latency>(1s, 2s)', 'latency> takes one value, as in latency>1s or latency>2s', 'latency>1s', 'latency>2s'],
    [
      'op:a -started>=(2026-01-05, 2026-01-06 12:00) x',
      'started>= takes one value, as in -started>=2026-01-05 or -started>=2026-01-06T12:00',
      'op:a -started>=2026-01-05 x',
      'op:a -started>=2026-01-06T12:00 x',
    ],
    ['tokens<(5, 5)', 'tokens< takes one value, as in tokens<5', 'tokens<5'],
    [
      'output.score<=(1, 2, 3, 4)',
      'output.score<= takes one value, as in output.score<=1, output.score<=2 or output.score<=3',
      'output.score<=1',
      'output.score<=2',
      'output.score<=3',
    ],
    ['latency>(1s, fast)', `${durationForm}, not fast`],
    ['took>(1s, 2s)', 'Unknown field took', 'latency>1s', 'latency>2s', '"took>(1s, 2s)"'],
    ['model>(a, b)', 'model supports :, = or ~, not >', 'model:(a, b)'],
  ])('is refused with each of them: %s', (q, ...refusal) => {
    expect(refusals(q)).toEqual([refusal])
  })

  it('is not a list of one, or one of values that may be any of them', () => {
    for (const q of ['latency>(1s)', 'tokens:(1, 2)', 'output~(a, b)']) expect([q, refusals(q)]).toEqual([q, []])
  })
})

describe('a field that does not exist', () => {
  it.each<[q: string, message: string, ...fixes: string[]]>([
    ['__proto__:x', 'Unknown field __proto__', '"__proto__:x"'],
    ['constructor:x', 'Unknown field constructor', '"constructor:x"'],
    ['größe:1', 'Unknown field größe', '"größe:1"'],
    ['zzz:(a, b)', 'Unknown field zzz', '"zzz:(a, b)"'],
    ['zzz>="a b"', 'Unknown field zzz', '"zzz>=a b"'],
    ['took<3min', 'Unknown field took', '"took<3min"'],
    ['STATUS:error', 'Unknown field STATUS', 'status:error', '"STATUS:error"'],
    ['state:failed', 'Unknown field state', '"state:failed"'],
    ['usd>5', 'Unknown field usd', 'cost>5', '"usd>5"'],
    ['has:zzz', 'Unknown field zzz'],
    ['has:__proto__', 'Unknown field __proto__'],
    ['-has:modle', 'Unknown field modle', '-has:model'],
    ['attr.tenant:x', 'Unknown field attr.tenant', 'attributes.tenant:x', '"attr.tenant:x"'],
    ['Outputs.a.b:x', 'Unknown field Outputs.a.b', 'output.a.b:x', '"Outputs.a.b:x"'],
  ])('%s', (q, ...refusal) => {
    expect(refusals(q)).toEqual([refusal])
  })

  it.each(['constructor.name:x', '__proto__.x:1', 'toString.a:1', 'valueOf.b.c:1', 'hasOwnProperty.x:1'])(
    'is not one of attributes that is named as a member of every object: %s',
    (q) => {
      expect(refusals(q)).toEqual([])
    },
  )

  it('is one of traces alone: what counts them is advised, and its fixes are of the calls that are listed', () => {
    expect(refusals('errors>0')).toEqual([['errors is a field of traces: ask for traces', 'status:error']])
    expect(refusals('-errors>0')).toEqual([['errors is a field of traces: ask for traces', '-status:error']])
    expect(refusals('spans>5')).toEqual([['spans is a field of traces: ask for traces']])
    expect(refusals('duration>2s')).toEqual([['duration is a field of traces: ask for traces', 'latency>2s']])
    expect(refusals('has:duration')).toEqual([['duration is a field of traces: ask for traces', 'has:latency']])
    expect(refusals('errors>0 spans>5 duration>2s', 'traces')).toEqual([])
  })

  it('of traces is one that every trace has', () => {
    expect(refusals('has:errors', 'traces')).toEqual([['Every trace has errors', 'errors>0']])
    expect(refusals('-has:spans', 'traces')).toEqual([['Every trace has spans', '-spans>0']])
    expect(refusals('has:model has:cost', 'traces')).toEqual([])
    expect(refusals('error_count>1', 'traces')).toEqual([['Unknown field error_count', 'errors>1', '"error_count>1"']])
  })
})

describe('a word that is no field', () => {
  const path = (path: string) => ({ path, calls: 1 })
  const found = {
    fields: ['attributes.metadata.tenant', 'inputs.order.tenant', 'inputs.x'].map(path),
    span_attributes: { fields: [path('attributes.otel_span.attributes.tier')] },
  }
  const meant = (q: string) =>
    problemsOf(parseQuery(q), 'calls', '').map((one) => fixesAmong(one, found).map((fix) => fix.q))

  it.each<[q: string, ...fixes: string[]]>([
    ['tena:bl', 'metadata.tenant:bl', 'inputs.order.tenant:bl', '"tena:bl"'],
    ['-Tier:(a, b) x', '-attributes.otel_span.attributes.tier:(a, b) x', '-"Tier:(a, b)" x'],
    ['tennat:bl', 'metadata.tenant:bl', 'inputs.order.tenant:bl', '"tennat:bl"'],
    ['has:tena', 'has:metadata.tenant', 'has:inputs.order.tenant'],
    // Nothing that calls have is near.
    ['zzz:1', '"zzz:1"'],
    ['y:1', '"y:1"'],
    ['https://example.com', '"https://example.com"'],
    // A field of the line is nearer.
    ['statsu:error', 'status:error', '"statsu:error"'],
  ])('may mean one that calls have, and no other: %s', (q, ...fixes) => {
    expect(meant(q)).toEqual([fixes])
  })

  it('is advised nothing while the fields of calls are not known', () => {
    const [problem] = problemsOf(parseQuery('tena:bl'), 'calls', '')
    expect(problem && fixesAmong(problem, undefined).map((fix) => fix.q)).toEqual(['"tena:bl"'])
  })
})

describe('all that is wrong in a line', () => {
  it('is told in its order, and each fix leaves the rest of the line as it was', () => {
    expect(refusals('op:a statsu:error (cost>1€ OR -has:modle) OR x')).toEqual([
      [
        'Unknown field statsu',
        'op:a status:error (cost>1€ OR -has:modle) OR x',
        'op:a "statsu:error" (cost>1€ OR -has:modle) OR x',
      ],
      [`${moneyForm}, not 1€`, 'op:a statsu:error (cost>1 OR -has:modle) OR x'],
      ['Unknown field modle', 'op:a statsu:error (cost>1€ OR -has:model) OR x'],
    ])
  })

  it('is every one of two alike, and a fix changes the one that it belongs to', () => {
    expect(refusals('zzz:1 zzz:1')).toEqual([
      ['Unknown field zzz', '"zzz:1" zzz:1'],
      ['Unknown field zzz', 'zzz:1 "zzz:1"'],
    ])
  })

  it('is nothing of an empty line, of words, and of what is deep within', () => {
    for (const q of ['', '   ', 'word', '"statsu:error"', 'is:root', '-is:running', '((((op:a))))'])
      expect([q, refusals(q)]).toEqual([q, []])
    expect(refusals(`${'('.repeat(15)}zzz:1${')'.repeat(15)}`)).toHaveLength(1)
  })

  it('points to the place of the first one, and the line that is advised is no problem', () => {
    for (const q of ['op:a tokens>"1k"', 'latency>90min', 'cost>1.5k', 'attr.x:1', 'status:(OK, failed)']) {
      const { problems, expression, fault } = parsed(q)
      expect([q, problems.length, expression, typeof fault?.at]).toEqual([q, 1, [], 'number'])
      const [fix] = problems[0]?.fixes ?? []
      expect([q, parsed(fix?.q ?? 'zzz:1').problems]).toEqual([q, []])
      expect(queryText(parseQuery(fix?.q ?? ''))).toBe(fix?.q)
    }
  })
})
