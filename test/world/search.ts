/** Plays many stories, and shortens those that fail. */
import { writeFileSync } from 'node:fs'
import known from './known-faults.json' with { type: 'json' }
import { Coverage } from './coverage.js'
import { type Played, playStory } from './play.js'
import { shorten } from './shorten.js'
import { openStage, type OpenStage } from './stage.js'
import { draw, type Story } from './story.js'

/** What the search finds and Sluice does not survive yet. */
interface KnownFault {
  readonly problem: string
  /** Ways of which it is known. Absent: all. */
  readonly ways?: string
  /** Acts that the story must hold in this order: another problem of the same words may be a new fault. */
  readonly needs: readonly string[]
  readonly reason: string
  readonly story: Story
}

const knownFaults: readonly KnownFault[] = known

export interface Found {
  readonly seed: number
  /** The shortest story that still fails so. */
  readonly story: Story
  readonly played: Played
}

export interface Searched {
  readonly found: readonly Found[]
  readonly coverage: Coverage
  readonly stories: number
  readonly commands: number
}

interface Wanted {
  readonly seed: number
  readonly stories: number
  /** How far the seeds are from each other. */
  readonly step?: number
  readonly only?: string | undefined
  /** Plays only stories with this act, trouble or target. */
  readonly having?: string | undefined
  /** Ends the search after so many failures. */
  readonly most?: number
  readonly say?: (line: string) => void
  readonly sayFound?: (found: Found) => void
  readonly sayPlayed?: (played: Played) => void
  readonly isShortened?: boolean
  /** Opens the stage. Default: the lab. */
  readonly open?: () => Promise<OpenStage>
  /** Leaves out what the stage cannot play. */
  readonly fit?: (story: Story) => Story
}

export async function search({
  seed: first,
  stories,
  step = 1,
  only,
  having,
  most = 1,
  say = () => undefined,
  sayFound = () => undefined,
  sayPlayed = () => undefined,
  isShortened = true,
  open = openStage,
  fit = story => story,
}: Wanted): Promise<Searched> {
  await using stage = await open()
  const coverage = new Coverage()
  const found: Found[] = []
  let [played, commands] = [0, 0]
  for (let seed = first; played < stories && found.length < most; seed += step) {
    const story = fit(draw(seed, only))
    if (having !== undefined && !has(story, having)) continue
    stage.set(story)
    const one = await playStory(story, stage)
    played += 1
    commands += one.commands
    coverage.add(story, one)
    sayPlayed(one)
    if (one.problems.length === 0) continue
    const fault = knownFaults.find(known => isOf(known, story, one))
    if (fault !== undefined) {
      say(`seed ${seed} is skipped, because Sluice does not survive it yet: ${fault.reason}`)
      continue
    }
    say(`seed ${seed}: ${one.problems[0] ?? ''}`)
    const shortest = { seed, ...(isShortened ? await shorten(story, stage, one) : { story, played: one }) }
    found.push(shortest)
    sayFound(shortest)
  }
  return { found, coverage, stories: played, commands }
}

function has({ acts, target }: Story, name: string): boolean {
  return target === name || acts.some(({ act, kind }) => act === name || kind === name)
}

function isOf(
  { problem, ways = '', needs }: KnownFault,
  { way, acts }: Story,
  { problems, acts: played }: Played,
): boolean {
  if (!new RegExp(ways).test(way)) return false
  const seen = acts.slice(0, played + 1).map(({ act }) => act)
  return (
    new RegExp(problem).test(problems[0] ?? '') &&
    new RegExp(needs.map(need => `(?:${need})`).join(' (.* )?')).test(seen.join(' '))
  )
}

/** Returns what failed as a person reads it: the story to play again, what happened, and what is wrong. */
export function tellOf({ seed, story, played }: Found): string {
  return [`seed ${seed}`, JSON.stringify(story), ...played.told, ...played.problems.map(one => `  ✗ ${one}`)].join('\n')
}

export function keep(path: string, { story, played }: Found): void {
  writeFileSync(path, `${JSON.stringify({ problems: played.problems, story }, undefined, 2)}\n`)
}
