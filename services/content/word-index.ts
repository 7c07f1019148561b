// The index over words of payloads: which documents have one, where the setting asks for it.

export const wordIndexedDocuments = ['inputs', 'output'] as const
export type WordIndexedDocument = (typeof wordIndexedDocuments)[number]
