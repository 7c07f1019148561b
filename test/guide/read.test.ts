// The chapter "Reading one's own write" of docs/guide.md, run as it stands.
// smoke: guide
import { it } from 'vitest'
import { runChapter } from './chapter.ts'

it("the guide's chapter 'Reading one's own write' prints what it says", () => runChapter("Reading one's own write"))
