/** Plays a story: each act in the world, and each command also before the oracle. */
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { losses } from './losses.js'
import { acts } from './acts.js'
import { limitOf, limits } from './limits.js'
import { LATE } from './bucket.js'
import { runCommand } from './command.js'
import type { After, Ended, Load, Trouble } from './facts.js'
import { Oracle } from './oracle/oracle.js'
import type { Act, Story } from './story.js'
import { type Settings, type Stage, World } from './world.js'
import { ways } from './ways.js'

export interface Played {
  /** What is wrong, by the oracle. Empty: the story came to a good end. */
  readonly problems: readonly string[]
  readonly told: readonly string[]
  /** Acts that were played. */
  readonly acts: number
  readonly commands: number
  /** Names of the leniencies that the oracle made use of. */
  readonly leniencies: ReadonlySet<string>
}

/** What Sluice prints ends a story: a fault of the model itself throws. */
class Wrong extends Error {}

/** In memory if possible: a story writes and removes a hundred files. */
const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

let stories = 0

export async function playStory(story: Story, stage: Stage): Promise<Played> {
  const play = new Play(story, stage)
  play.world.tell(JSON.stringify({ ...story, acts: story.acts.length }))
  let played = 0
  try {
    await play.world.behind?.make()
    for (const act of story.acts) {
      play.world.tell(`· ${JSON.stringify(act)}`)
      await acts[act.act]?.play(play, act)
      played += 1
    }
    return { ...play.result, problems: [], acts: played }
  } catch (error) {
    const problems = error instanceof Wrong ? error.message.split('\n') : [(error as Error).stack ?? String(error)]
    return { ...play.result, problems, acts: played }
  } finally {
    await play.world.end()
  }
}

export class Play {
  readonly world: World
  readonly oracle: Oracle
  /** The runs that ended with a receipt. */
  readonly runs: string[] = []
  readonly #story: Story
  #commands = 0
  readonly #runsElsewhere = new Map<number, readonly string[]>()

  constructor(story: Story, stage: Stage) {
    this.#story = story
    const way = ways[story.way]
    if (way === undefined) throw new Error(`no such way: ${story.way}`)
    const folder = mkdtempSync(join(root, 'sluice-world-'))
    this.world = new World(stage, folder, `world-${process.pid}-${(stories += 1)}`, way, story)
    const { op, transforms = false, skips = false } = story
    this.oracle = new Oracle({ isKeyed: story.ids !== 'run', op, transforms, skips })
  }

  /** How this machine packs rotated files. */
  get packing(): number {
    return this.#story.batchDocs
  }

  get result() {
    return { told: this.world.told, commands: this.#commands, leniencies: this.oracle.leniencies }
  }

  async after(): Promise<After> {
    return {
      index: await this.world.stored(),
      dead: this.world.dead(),
      isSwitched: this.world.behind?.isSwitched === true,
    }
  }

  check(problems: readonly string[]): void {
    this.#commands += 1
    if (problems.length > 0) throw new Wrong(problems.join('\n'))
  }

  /** `isTwice`: two users run the same command at once. */
  async load(act: Act, other: Partial<Settings> = {}, isTwice = false): Promise<void> {
    const { world } = this
    if (isTwice) world.takeTrouble()
    const all = world.inputs
    const one = all[Number(act['at'] ?? 0) % Math.max(1, all.length)]
    const isWhole = act['which'] === 'all' || world.way.isWhole === true
    const names = isWhole ? all : one === undefined ? [] : [one]
    // Without an input, the command is refused before it does anything.
    if (names.length === 0) return
    const { op, ids, batchDocs, tag, edit, transforms, skips, runId, maxRejected } = this.#story
    const limit = limitOf(world)
    const shaping = { tag, edit, transforms, skips }
    const settings = { op, ids, batchDocs, ...shaping, runId, maxRejected, limit, isAgain: false, ...other }
    const [inputs, disk] = [world.see(names.filter(name => !world.isLate(name, names))), world.see(world.names)]
    const trouble = this.#trouble(inputs.length > 0, limit !== undefined)
    const command = async () => await world.way.load(world, { names, spelling: Number(act['spelling'] ?? 0), settings })
    const ended = isTwice ? await this.#both(command) : await command()
    if (ended.run !== undefined && ended.counts !== undefined && ended.counts.read > 0 && ended.code === undefined) {
      if (!this.runs.includes(ended.run)) this.runs.push(ended.run)
    }
    const { isKept } = world.way
    const indexLost = world.takeLoss()
    const load: Load = {
      inputs,
      disk,
      op,
      setting: `${op} ${ids} ${settings.tag ?? ''}`,
      ...(edit === undefined ? {} : { edit }),
      ...(settings.tag === undefined ? {} : { tag: settings.tag }),
      ...(maxRejected === undefined ? {} : { maxRejected }),
      ...(runId === undefined ? {} : { runId }),
      isAgain: settings.isAgain,
      isKept,
      isSpooled: this.#story.way === 'spool',
      isFollowed: this.#story.way === 'follow',
      // It begins with the number of its hits.
      ...(this.#story.way === 'search' ? { hasHead: true } : {}),
      ...(world.way.isTable === true ? { isTable: true, reconciles: world.way.isWhole === true } : {}),
      ...(world.way.isQueued === true ? { isQueued: true } : {}),
      ...(world.way.posts === undefined ? {} : { posted: world.way.posts }),
      trouble,
      ...(indexLost === undefined ? {} : { indexLost }),
      hasRare: world.hasRare,
      isNarrow: world.isNarrow,
      ended,
    }
    this.check(this.oracle.load(load, await this.after()))
  }

  /** Returns how the one ended that loaded. The other one is refused, or finds nothing to do. */
  async #both(command: () => Promise<Ended>): Promise<Ended> {
    const both = await Promise.all([command(), command()])
    const rank = ({ code, thisProcess }: Ended) => (code === 'RUN_LOCKED' ? 2 : thisProcess?.read === 0 ? 1 : 0)
    const [first, second] = both.toSorted((one, other) => rank(one) - rank(other))
    if (first === undefined || second === undefined || rank(first) === 2 || rank(second) === 0)
      throw new Wrong(`two commands at once ended so: ${JSON.stringify(both)}`)
    return first
  }

  #trouble(isSeen: boolean, isLimited: boolean): Trouble {
    const { kind } = this.world.trouble
    const loss = losses[kind]
    if (loss !== undefined) return loss.trouble
    if (limits[kind] !== undefined) return isLimited ? 'limit' : 'none'
    // A list that lags shows the objects of before.
    if (kind === LATE) return isSeen ? 'none' : 'server'
    if (kind.startsWith('killed')) return 'killed'
    if (kind.startsWith('filter')) return 'filter'
    if (kind.startsWith('index ')) return this.world.mayLoseIndex ? 'index' : 'none'
    if (kind.startsWith('server')) return this.world.way.isOnServer === true ? 'server' : 'none'
    if (kind === 'mapping narrowed') return 'mapping'
    if (kind === 'rolled over' || kind === 'alias switched') return this.world.behind === undefined ? 'none' : 'behind'
    if (kind === 'none' || kind === 'stopped') return kind
    return 'answers'
  }

  async replay(repairs: boolean): Promise<void> {
    const { world } = this
    world.takeTrouble()
    if (world.dead().length === 0) return
    if (repairs) world.repair()
    const letters = world.dead()
    const to = world.nextReplay()
    const args = ['replay', world.at('dead.ndjson'), '--dead-letters', world.at(to)]
    const ended = await runCommand(world, args)
    this.check(this.oracle.replay(letters, ended, world.isNarrow, { ...(await this.after()), dead: world.dead(to) }))
  }

  async prefill(count: number): Promise<void> {
    if (this.#story.ids === 'run' || this.#story.ids === 'hash' || this.world.way.isTable === true) return
    // Every second document of those that come next, and of those that were there.
    const numbers = Array.from({ length: count }, (_, at) => 1 + at * 2)
    const action = (n: number) => `{"index":{"_index":"${this.world.indexOf(n)}","_id":"${n}"}}`
    const body = numbers.map(n => `${action(n)}\n{"n":${n},"v":0}\n`).join('')
    await this.world.stage.cluster.ask('POST', '_bulk?refresh=true', body)
    this.oracle.prefilled(await this.after(), numbers)
  }

  loseState(): void {
    this.world.loseState()
    this.oracle.stateLost()
    this.runs.splice(0)
  }

  /** The user goes to the other one of two machines. */
  move(isCopied: boolean): void {
    const { machine } = this.world
    const to = 1 - machine
    this.world.move(to, isCopied)
    this.oracle.moved(machine, to, isCopied)
    this.#runsElsewhere.set(machine, [...this.runs])
    if (!isCopied) this.runs.splice(0, Infinity, ...(this.#runsElsewhere.get(to) ?? []))
  }

  async deleteIndex(isMadeAnew: boolean): Promise<void> {
    await this.world.loseIndex(isMadeAnew)
    this.world.takeLoss()
    this.oracle.indexLost(isMadeAnew)
  }
}
