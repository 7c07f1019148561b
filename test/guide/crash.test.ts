// The chapter "A crash" of docs/guide.md, run as it stands.
// smoke: guide
import { it } from 'vitest'
import { runChapter } from './chapter.ts'

it("the guide's chapter 'A crash' prints what it says", () => runChapter('A crash'))
