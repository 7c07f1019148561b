// Kinds of objects: each class is of one kind, and the others are those that no kind names.
import { expect, it } from 'vitest'
import {
  classFilter,
  isOfKind,
  kindLabel,
  objectKind,
  objectKinds,
} from '../../services/web/page/engine/object-classes.ts'

it.each([
  ['prompts', 'Prompts', ['Prompt', 'MessagesPrompt', 'StringPrompt', 'EasyPrompt']],
  ['models', 'Models', ['Model', 'ProviderModel', 'LLMStructuredCompletionModel']],
  ['scorers', 'Scorers', ['Scorer', 'LLMAsAJudgeScorer']],
  ['evaluations', 'Evaluations', ['Evaluation']],
  ['datasets', 'Datasets', ['Dataset']],
  ['specs', 'Annotation specs', ['AnnotationSpec']],
] as const)('%s are called %s and are of their classes alone', (kind, label, classes) => {
  expect(kindLabel(kind)).toBe(label)
  expect(classFilter(kind)).toEqual({ base_object_classes: classes })
  for (const name of classes) expect([name, objectKinds.filter((one) => isOfKind(one, name))]).toEqual([name, [kind]])
})

it('others are objects of no class of a kind: the server is asked for all but those', () => {
  expect(kindLabel('others')).toBe('Others')
  const filter = classFilter('others')
  const named = objectKinds.flatMap((kind) => classFilter(kind).base_object_classes ?? [])
  expect(filter).toEqual({ exclude_base_object_classes: named })
  expect(new Set(named).size).toBe(named.length)
})

it.each([null, '', 'prompt', 'PROMPT', 'Prompts', ' Prompt', 'constructor', '__proto__', 'Objekt'])(
  'the class %j is of no kind',
  (name) => {
    expect(objectKinds.filter((kind) => isOfKind(kind, name))).toEqual([])
  },
)

it('a word of an address is a kind or none', () => {
  for (const kind of objectKinds) expect(objectKind(kind)).toBe(kind)
  for (const word of [undefined, null, '', 'Prompts', 'constructor', '__proto__', 'toString', 0, ['prompts'], {}])
    expect([word, objectKind(word)]).toEqual([word, undefined])
})

it('a filter is made anew each time: what a question does to it changes no other', () => {
  const filter = classFilter('prompts')
  filter.base_object_classes?.push('Dataset')
  expect(classFilter('prompts').base_object_classes).not.toContain('Dataset')
  expect(isOfKind('prompts', 'Dataset')).toBe(false)
})
