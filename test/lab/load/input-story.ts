/** Random changes of files, and loads of them under random names. */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import type { Seeded } from '../../support/random/seeded.js'
import { type Expected, InputModel, type LoadSeen, countLines } from './input-model.js'

/** How a load ends: by itself, in good order before its end, or killed. */
type Ending = 'finished' | 'stopped' | 'killed'

export interface Loader {
  load(sources: readonly string[], op: string, again: boolean, ending: Ending): Promise<LoadSeen>
  /** The documents of the index. */
  documents(): Promise<readonly string[]>
}

const names = ['a', 'b', 'c', 'd', 'e', 'f'].map(name => `${name}.ndjson`)

/** Tells one story, and checks the index after each load. Throws with the story if the index does not hold what it must. */
export async function tell(folder: string, random: Seeded, loader: Loader, steps: number): Promise<void> {
  const story = new Story(folder, random, loader)
  try {
    await story.tell(steps)
  } catch (error) {
    throw new Error(`${story.told.join('\n')}\n${(error as Error).message}`, { cause: error })
  }
}

class Story {
  readonly told: string[] = []
  readonly #folder: string
  readonly #random: Seeded
  readonly #loader: Loader
  readonly #model = new InputModel()
  #lines = 100_000

  constructor(folder: string, random: Seeded, loader: Loader) {
    this.#folder = folder
    this.#random = random
    this.#loader = loader
    mkdirSync(join(folder, 'sub'))
  }

  async tell(steps: number): Promise<void> {
    this.#change()
    for (let step = 0; step < steps; step += 1) {
      const changes = this.#random.below(4)
      for (let change = 0; change < changes; change += 1) this.#change()
      if (this.#paths.length > 0) await this.#load()
    }
    await this.#end()
  }

  get #paths(): string[] {
    const inFolder = (folder: string) => readdirSync(folder).map(name => join(folder, name))
    return [...inFolder(this.#folder), ...inFolder(join(this.#folder, 'sub'))]
      .filter(path => path.endsWith('.ndjson') && existsSync(path))
      .toSorted()
  }

  #say(...words: readonly string[]): void {
    this.told.push(words.map(word => word.replace(`${this.#folder}/`, '')).join(' '))
  }

  #text(count: number): string {
    return Array.from({ length: count }, () => `{"n":${(this.#lines += 1)}}\n`).join('')
  }

  #freePath(): string | undefined {
    const paths = names.flatMap(name => [join(this.#folder, name), join(this.#folder, 'sub', name)])
    const free = paths.filter(path => !existsSync(path))
    // A link that leads nowhere is no name for a new file.
    const [path] = free.length === 0 ? [] : [this.#random.pick(free)]
    if (path !== undefined) rmSync(path, { force: true })
    return path
  }

  #change(): void {
    const random = this.#random
    const paths = this.#paths
    const to = this.#freePath()
    if (paths.length === 0 || (to !== undefined && random.chance(0.2))) {
      if (to === undefined) return
      writeFileSync(to, this.#text(1 + random.below(40)))
      return this.#say('write', to)
    }
    const path = random.pick(paths)
    const isOpen = this.#model.isOpen(path)
    const isUnclear = this.#model.isUnclear(path)
    const kind = random.below(14)
    if (kind > 2 && this.#model.hasOpenCopy(path)) return
    if (kind < 3) {
      appendFileSync(path, this.#text(1 + random.below(10)))
      return this.#say('append', path)
    }
    if (kind < 6) return isUnclear ? undefined : this.#rewrite(path)
    if (kind === 6) {
      utimesSync(path, 1, 1 + random.below(1000))
      return this.#say('touch', path)
    }
    if (kind === 7) {
      rmSync(path)
      return this.#say('remove', path)
    }
    if (to === undefined || isUnclear) return
    if (kind < 10) {
      renameSync(path, to)
      return this.#say('rename', path, to)
    }
    if (isOpen) return
    if (kind === 10) {
      linkSync(path, to)
      return this.#say('link', path, to)
    }
    if (kind === 11) {
      symlinkSync(path, to)
      return this.#say('symlink', path, to)
    }
    copyFileSync(path, to)
    if (kind === 12) return this.#say('copy', path, to)
    if (random.chance(0.5)) {
      rmSync(path)
      return this.#say('move by copy', path, to)
    }
    truncateSync(path)
    appendFileSync(path, this.#text(1 + random.below(10)))
    return this.#say('copy and truncate', path, to)
  }

  /** Edits, cuts off or replaces a file, in place or by another file of that name. */
  #rewrite(path: string): void {
    const random = this.#random
    const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
    const kind = random.pick(['edit', 'edit and append', 'cut off', 'replace'])
    if (kind === 'cut off') lines.splice(1 + random.below(lines.length))
    else if (kind === 'replace')
      lines.splice(
        0,
        lines.length,
        ...this.#text(1 + random.below(40))
          .trim()
          .split('\n'),
      )
    else lines[random.below(lines.length)] = this.#text(1).trim()
    if (kind === 'edit and append') lines.push(this.#text(1).trim())
    const isInPlace = random.chance(0.5)
    const into = isInPlace ? path : join(this.#folder, 'new')
    writeFileSync(into, `${lines.join('\n')}\n`)
    if (!isInPlace) renameSync(into, path)
    this.#say(kind, isInPlace ? 'in place' : 'by another file', path)
  }

  async #load(): Promise<void> {
    const random = this.#random
    const paths = this.#paths.filter(() => random.chance(0.6))
    const isAll = paths.length === 0 || random.chance(0.2)
    const some = isAll ? this.#paths : paths
    const sources = isAll ? [this.#glob()] : some.map(path => this.#spelled(path))
    const isCalm = !this.#model.hasOpen
    if (isCalm && random.chance(0.1)) return void (await this.#loadSome(some, sources, { again: true }))
    // All of the index is loaded with one operation.
    if (isCalm && random.chance(0.2) && this.#model.expect(some, 'index', false).mustRefuse)
      await this.#loadSome(some, sources, { op: 'index' })
    await this.#loadSome(some, sources, { ending: random.pick<Ending>(['finished', 'finished', 'stopped', 'killed']) })
  }

  #glob(): string {
    const folder = this.#random.pick([this.#folder, relative('', this.#folder)])
    return join(folder, this.#random.pick(['**/*.ndjson', '{,sub/}*.nd*']))
  }

  #spelled(path: string): string {
    const name = basename(path)
    const folder = dirname(path)
    return this.#random.pick([
      path,
      relative('', path),
      `${folder}/./${name}`,
      `${this.#folder}/sub/../${relative(this.#folder, path)}`,
      join(folder, `[${name.slice(0, 1)}]${name.slice(1)}`),
    ])
  }

  async #loadSome(
    paths: readonly string[],
    sources: readonly string[],
    { op = 'create', again = false, ending = 'finished' }: { op?: string; again?: boolean; ending?: Ending } = {},
  ): Promise<LoadSeen> {
    const expected = this.#model.expect(paths, op, again)
    let seen = await this.#run(sources, op, again, ending)
    const isRefused = ({ code }: LoadSeen) => code === 'INPUT_CHANGED' || code === 'RUN_OPTIONS_CHANGED'
    if (seen.code !== undefined && !isRefused(seen)) {
      if (!this.#model.isUncertain(expected)) {
        this.#model.begun(expected)
        this.#model.check(await this.#index())
        return seen
      }
      seen = { ...(await this.#run(sources, op, again, 'finished')), alreadyLoaded: undefined }
    }
    const index = await this.#index()
    if (expected.mustRefuse || isRefused(seen)) this.#refused(expected, seen, index)
    else if (seen.code === undefined) this.#model.finished(expected, index, seen)
    else throw new Error(`the load ended with ${seen.code}`)
    return seen
  }

  #refused({ matches, mustRefuse }: Expected, { code }: LoadSeen, index: ReadonlyMap<string, number>): void {
    const isChanged = [...matches.values()].some(({ kind }) => kind === 'maybe')
    if (mustRefuse && code !== 'RUN_OPTIONS_CHANGED' && !isChanged)
      throw new Error(`${code}: other options are not refused`)
    if (!mustRefuse && code === 'RUN_OPTIONS_CHANGED') throw new Error('the options are those of before')
    if (!isChanged && code === 'INPUT_CHANGED') throw new Error('nothing has changed')
    this.#model.check(index)
  }

  async #run(sources: readonly string[], op: string, again: boolean, ending: Ending): Promise<LoadSeen> {
    const seen = await this.#loader.load(sources, op, again, ending)
    const told = sources.map(one => relative(this.#folder, one)).join(' ')
    this.#say(
      'load',
      told,
      op,
      again ? 'again,' : '',
      ending,
      '→',
      seen.code ?? 'finished',
      String(seen.alreadyLoaded ?? ''),
    )
    return seen
  }

  async #index(): Promise<ReadonlyMap<string, number>> {
    return countLines(await this.#loader.documents())
  }

  /** Puts changed files back, finishes all, and finds nothing new then. */
  async #end(): Promise<void> {
    const paths = this.#paths
    if (paths.length === 0) return
    for (;;) {
      const { code } = await this.#loadSome(paths, [this.#glob()])
      if (code === undefined) break
      // A file may stay unclear after it was put back: it may have the inode of another file that was replaced.
      const changed = paths.find(path => {
        const before = this.#model.before(path)
        return before !== undefined && this.#model.isUnclear(path) && readFileSync(path, 'utf8') !== before
      })
      if (code !== 'INPUT_CHANGED' || changed === undefined) throw new Error(`${code} in the end`)
      writeFileSync(changed, this.#model.before(changed) ?? '')
      this.#say('put back', changed)
    }
    const { alreadyLoaded } = await this.#loadSome(paths, paths)
    if (alreadyLoaded?.every(Boolean) !== true) throw new Error('something is new in the end')
  }
}
