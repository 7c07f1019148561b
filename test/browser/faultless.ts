// Checks the faults of the page after each test of a file.
import { afterEach, expect } from 'vitest'
import { type Opened, picture } from './world.ts'

/** @param opened what the tests of the file use; a picture of it is kept where one failed */
export function afterEachIsFaultless(opened: () => Opened): void {
  afterEach(async ({ task }) => {
    const { page, faults } = opened()
    if (task.result?.state === 'fail') await picture(page, task.name.replaceAll(/\W+/g, '-'))
    expect(faults.splice(0)).toEqual([])
  })
}
