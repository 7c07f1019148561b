// The chapter "A dead letter" of docs/guide.md, run as it stands.
// smoke: guide
import { it } from 'vitest'
import { runChapter } from './chapter.ts'

it("the guide's chapter 'A dead letter' prints what it says", () => runChapter('A dead letter'))
