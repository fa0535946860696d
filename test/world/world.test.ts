/** Stories that failed before, and a few others. `npm run search:world` plays thousands. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { playStory } from './play.js'
import { search, tellOf } from './search.js'
import { openStage } from './stage.js'
import type { Story } from './story.js'

const folder = new URL('stories/', import.meta.url)
const FEW = 8

test.each(readdirSync(folder).filter(name => name.endsWith('.json')))(
  'the story %s comes to a good end',
  async name => {
    await using stage = await openStage()
    const { story } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { story: Story }
    stage.set(story)
    expect((await playStory(story, stage)).problems).toEqual([])
  },
)

test.each(Array.from({ length: FEW }, (_, at) => at + 1))('the story of seed %i comes to a good end', async seed => {
  const { found, commands } = await search({ seed, stories: 1 })
  expect(found.map(tellOf)).toEqual([])
  expect(commands).toBeGreaterThan(0)
})
