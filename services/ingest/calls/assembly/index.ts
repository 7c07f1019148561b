// Entry of the WebAssembly module; `npm run wasm` builds it.
export { read, readItems, readProjects, setup } from './batch.ts'
export { usages } from './checks.ts'
export { answer, clockNumber, isFull, patches, rewind, rows, write } from './rows.ts'
