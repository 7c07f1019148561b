// The chapter "A write" of docs/guide.md, run as it stands.
// smoke: guide
import { it } from 'vitest'
import { runChapter } from './chapter.ts'

it("the guide's chapter 'A write' prints what it says", () => runChapter('A write'))
