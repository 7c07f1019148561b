// Keys one after the other, and what of the address and of what the browser has kept counts.
import { describe, expect, it } from 'vitest'
import { sequences } from '../../services/web/page/engine/key-sequences.ts'
import { isForList, type KeyPlace, takesText } from '../../services/web/page/engine/list-keys.ts'
import { ranked } from '../../services/web/page/engine/ranked.ts'
import { traceSearch, zoomOf, zoomText } from '../../services/web/page/engine/trace-search.ts'
import { draftOf, emptyDraft } from '../../services/web/page/playground/draft.ts'

describe('keys one after the other', () => {
  const typed = (...keys: [key: string, ms: number][]) => {
    const next = sequences(['g c', 'g d', 'c', 'j'])
    return keys.map(([key, ms]) => next(key, ms))
  }

  it('are a sequence when the second one comes in time', () => {
    expect(typed(['g', 0], ['c', 900], ['c', 950])).toEqual(['g', 'g c', 'c'])
    expect(typed(['g', 0], ['c', 1_100])).toEqual(['g', 'c'])
  })

  it('count by themselves behind a first key that they do not belong to', () => {
    expect(typed(['g', 0], ['j', 100], ['c', 200])).toEqual(['g', 'j', 'c'])
    expect(typed(['g', 0], ['g', 100], ['d', 200])).toEqual(['g', 'g', 'g d'])
  })
})

describe('what the timeline shows', () => {
  it('is in the address, unless it is the whole trace', () => {
    expect(zoomText({ from: 10.4, to: 20.2 }, 100)).toBe('10-21')
    expect(zoomText({ from: 0, to: 100 }, 100)).toBeUndefined()
    expect(zoomOf('10-21')).toEqual({ from: 10, to: 21 })
    for (const wrong of ['21-10', '-1-5', 'a-b', '1-', '5-5', '1e3-2e9', `1-${'9'.repeat(20)}`])
      expect(traceSearch({ zoom: wrong }), wrong).toEqual({})
  })
})

describe('a draft that the browser has kept', () => {
  const { messages, columns } = emptyDraft()

  it('comes back as it was', () => {
    const draft = { ...emptyDraft(), variables: { name: 'x' }, tools: '[]', keeps: false }
    const back = draftOf(JSON.parse(JSON.stringify(draft)))
    const without = ({ key: _, ...rest }: { key: number }) => rest
    expect(back?.messages.map(without)).toEqual(draft.messages.map(without))
    expect(back?.columns.map(without)).toEqual(draft.columns.map(without))
    expect(back).toMatchObject({ tools: '[]', schema: '', keeps: false })
    expect({ ...back?.variables }).toEqual({ name: 'x' })
  })

  it('is none when another version has written it in another form', () => {
    for (const wrong of [null, 1, 'x', [], {}, { messages: 3, columns }, { messages, columns: [{ model: 1 }] }])
      expect(draftOf(wrong), JSON.stringify(wrong)).toBeUndefined()
    const odd = draftOf({ messages, columns, variables: [1], tools: 7, schema: null, keeps: 'x' })
    expect(odd).toMatchObject({ tools: '', schema: '', keeps: true })
    const many = Array.from({ length: 9 }, () => columns[0])
    expect(draftOf({ messages: [...messages, { role: 'robot', text: 'x' }], columns: many })).toMatchObject({
      messages: [{ role: 'system' }, { role: 'user' }],
      columns: { length: 4 },
    })
  })
})

describe('keys of a list that nothing has given the focus', () => {
  const taken = (place: KeyPlace, hasLetters = true) =>
    ['j', 'k', 'ArrowDown', 'ArrowUp', 'PageDown', 'Home', 'End', 'Enter', 'ArrowRight', 'x', 'g', ' '].filter((key) =>
      isForList(key, place, hasLetters),
    )

  it('move in it and open its row from the first moment', () => {
    expect(taken('nothing')).toEqual([
      ...['j', 'k', 'ArrowDown', 'ArrowUp', 'PageDown', 'Home', 'End', 'Enter', 'ArrowRight'],
    ])
    expect(taken('nothing', false)).not.toContain('j')
  })

  it('leave a control what it takes: letters alone are for the list', () => {
    expect(taken('control')).toEqual(['j', 'k'])
    expect(taken('control', false)).toEqual([])
  })

  it('are text where somebody types, and keys of what lies above or beside', () => {
    for (const place of ['text', 'list', 'overlay'] as const) expect(taken(place), place).toEqual([])
  })
})

it.each<[tagName: string, type: string | undefined, isText: boolean]>([
  ['INPUT', 'text', true],
  ['INPUT', 'search', true],
  ['INPUT', 'number', true],
  ['INPUT', 'checkbox', false],
  ['INPUT', 'radio', false],
  ['TEXTAREA', undefined, true],
  ['SELECT', undefined, true],
  ['BUTTON', undefined, false],
])('letters are keys of the page on a box to check, and text where one types: %s %s', (tagName, type, isText) => {
  expect(takesText(tagName, type)).toBe(isText)
})

describe('what "Go to" finds', () => {
  const found = (label: string, hint: string) => ({ label, hint })
  const labels = (text: string, ...all: ReturnType<typeof found>[]) => ranked(all, text).map(({ label }) => label)

  it('begins with the page of this name, and ends with what holds the words', () => {
    const search = found('Calls with “retention”', 'filter')
    const others = [found('check_retention', 'operation, 2 of the latest calls'), found('Retention', 'settings')]
    expect(labels('retention', search, ...others)).toEqual(['Retention', 'Calls with “retention”', 'check_retention'])
    expect(labels(' RETEN', search, ...others)[0]).toBe('Retention')
    expect(
      labels('calls', found('Calls with “calls”', 'filter'), found('Call limits', 'settings'), found('Calls', 'page')),
    ).toEqual(['Calls', 'Calls with “calls”', 'Call limits'])
  })

  it('finds a project by its own name, and leaves ids and refs where they are', () => {
    expect(labels('demo', found('Calls with “demo”', 'filter'), found('acme/demo', 'project'))[0]).toBe('acme/demo')
    const ids = [found('0123', 'call'), found('0123', 'trace')]
    expect(ranked(ids, '0123')).toEqual(ids)
    expect(ranked(ids, '')).toEqual(ids)
  })
})
