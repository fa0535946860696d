/** Shortens a story that fails: it leaves out acts and options as long as the story still fails in the same way. */
import { type Played, playStory } from './play.js'
import type { Story } from './story.js'
import type { Stage } from './world.js'

interface Shortened {
  readonly story: Story
  readonly played: Played
}

/** What depends on the moment may need several tries. */
const TRIES = 1
const MOST_PLAYS = 30

export async function shorten(
  story: Story,
  stage: Stage & { set(story: Story): void },
  played: Played,
): Promise<Shortened> {
  let best: Shortened = { story: { ...story, acts: story.acts.slice(0, played.acts + 1) }, played }
  const kind = kindOf(played)
  let plays = 0
  const fails = async (tried: Story): Promise<boolean> => {
    for (let left = TRIES; left > 0 && plays < MOST_PLAYS; left -= 1) {
      plays += 1
      stage.set(tried)
      const again = await playStory(tried, stage)
      if (again.problems.length === 0 || kindOf(again) !== kind) continue
      best = { story: { ...tried, acts: tried.acts.slice(0, again.acts + 1) }, played: again }
      return true
    }
    return false
  }
  for (let size = Math.ceil(best.story.acts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.story.acts.length;) {
      const { acts } = best.story
      if (!(await fails({ ...best.story, acts: [...acts.slice(0, at), ...acts.slice(at + size)] }))) at += size
    }
  }
  for (const option of ['tag', 'edit', 'transforms', 'skips', 'runId', 'maxRejected', 'isByField', 'target'] as const) {
    const { [option]: dropped, ...rest } = best.story
    if (dropped !== undefined) await fails(rest)
  }
  return best
}

/** The first words of what is wrong, without its numbers. */
function kindOf({ problems }: Played): string {
  return (problems[0] ?? '').replaceAll(/[\d]+/g, '').slice(0, 24)
}
