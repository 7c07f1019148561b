// Kinds of objects as the list of objects sorts them, by the class that each is of.

const names = {
  prompts: ['Prompts', ['Prompt', 'MessagesPrompt', 'StringPrompt', 'EasyPrompt']],
  models: ['Models', ['Model', 'ProviderModel', 'LLMStructuredCompletionModel']],
  scorers: ['Scorers', ['Scorer', 'LLMAsAJudgeScorer']],
  evaluations: ['Evaluations', ['Evaluation']],
  datasets: ['Datasets', ['Dataset']],
  specs: ['Annotation specs', ['AnnotationSpec']],
  others: ['Others', []],
} as const satisfies Record<string, readonly [label: string, classes: readonly string[]]>

export type ObjectKind = keyof typeof names
export const objectKinds = Object.keys(names) as ObjectKind[]
export const kindLabel = (kind: ObjectKind): string => names[kind][0]

export const isOfKind = (kind: ObjectKind, name: string | null): boolean =>
  (names[kind][1] as readonly string[]).includes(name ?? '')

export const objectKind = (value: unknown): ObjectKind | undefined => objectKinds.find((kind) => kind === value)

/** Filter of the query of objects. */
export const classFilter = (kind: ObjectKind) =>
  kind === 'others'
    ? { exclude_base_object_classes: Object.values(names).flatMap(([, classes]): readonly string[] => classes) }
    : { base_object_classes: [...names[kind][1]] }
